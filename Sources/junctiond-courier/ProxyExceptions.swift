import JunctionCourier

/// What is reached without the proxy (`network.noProxy`, or `NO_PROXY`): names with all that is below them, addresses,
/// networks, or `*` for everything; each at one port, where it has one.
struct ProxyExceptions {
    private let places: [Substring]

    init(_ list: String) {
        places = list.split { $0 == "," || $0 == " " }
    }

    /// - Parameter host: a name or an address, as it is in a URL.
    func cover(_ host: String, port: Int) -> Bool {
        let places = places.compactMap { Self.place($0, at: port) }
        if places.contains("*") { return true }
        if let address = NetworkAddress(host) { return places.contains { Self.holds(address, $0) } }
        let name = Self.labels(host[...])
        return places.contains { Self.holds(name, $0) }
    }

    /// What an exception is about, without its port; nothing where that is another one.
    private static func place(_ text: Substring, at port: Int) -> Substring? {
        // An IPv6 address has colons of its own, and is in brackets before a port.
        guard let colon = text.lastIndex(of: ":"), NetworkAddress(text) == nil, !text.contains("/") else { return text }
        return Int(text[text.index(after: colon)...]) == port ? text[..<colon] : nil
    }

    /// `10.0.0.0/8`, or one address.
    private static func holds(_ address: NetworkAddress, _ place: Substring) -> Bool {
        let parts = place.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let network = NetworkAddress(parts[0]) else { return false }
        guard parts.count == 2 else { return network == address }
        return Int(parts[1]).map { address.begins(like: network, bits: $0) } ?? false
    }

    /// `example.com`, `.example.com` and `*.example.com` mean the same, as the first two do for curl.
    private static func holds(_ name: [Substring], _ place: Substring) -> Bool {
        let domain = labels(place.hasPrefix("*.") ? place.dropFirst(2) : place)
        return !domain.isEmpty && name.suffix(domain.count) == domain[...]
    }

    private static func labels(_ name: Substring) -> [Substring] {
        name.lowercased().split(separator: ".").map { $0 }
    }
}
