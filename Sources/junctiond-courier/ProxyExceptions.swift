import JunctionNetworkHelper

/// The hosts that are reached without the proxy (`network.noProxy`, or `NO_PROXY`): names with all their subdomains,
/// addresses, networks, or `*` for every host. Each entry may be limited to one port.
struct ProxyExceptions {
    private let places: [Substring]

    init(_ list: String) {
        places = list.split { $0 == "," || $0 == " " }
    }

    /// - Parameter host: a name or an address, as in a URL.
    func cover(_ host: String, port: Int) -> Bool {
        let places = places.compactMap { Self.place($0, at: port) }
        if places.contains("*") { return true }
        if let address = NetworkAddress(host) { return places.contains { Self.holds(address, $0) } }
        let name = Self.labels(host[...])
        return places.contains { Self.holds(name, $0) }
    }

    /// Returns an entry without its port, or `nil` if it is for another port.
    private static func place(_ text: Substring, at port: Int) -> Substring? {
        // An IPv6 address contains colons. It is in brackets when a port follows.
        guard let colon = text.lastIndex(of: ":"), NetworkAddress(text) == nil, !text.contains("/") else { return text }
        return Int(text[text.index(after: colon)...]) == port ? text[..<colon] : nil
    }

    /// Returns whether an entry such as `10.0.0.0/8`, or a single address, contains the address.
    private static func holds(_ address: NetworkAddress, _ place: Substring) -> Bool {
        let parts = place.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let network = NetworkAddress(parts[0]) else { return false }
        guard parts.count == 2 else { return network == address }
        return Int(parts[1]).map { address.begins(like: network, bits: $0) } ?? false
    }

    /// `example.com`, `.example.com` and `*.example.com` mean the same. For curl the first two do.
    private static func holds(_ name: [Substring], _ place: Substring) -> Bool {
        let domain = labels(place.hasPrefix("*.") ? place.dropFirst(2) : place)
        return !domain.isEmpty && name.suffix(domain.count) == domain[...]
    }

    private static func labels(_ name: Substring) -> [Substring] {
        name.lowercased().split(separator: ".").map { $0 }
    }
}
