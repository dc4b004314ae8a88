import JunctionText

/// The server to which a program wants to send a credential.
struct Destination: Equatable {
    /// In lower case, an IPv6 address in brackets.
    let host: String
    let port: Int
    let isDefaultPort: Bool

    /// Reads a host with an optional port.
    ///
    /// - Parameter scheme: nil if the protocol has none; the port is then that of HTTPS.
    /// - Returns: nil if the scheme would send the token unencrypted over a network, or if this is not a host.
    init?(_ authority: some StringProtocol, scheme: (some StringProtocol)?) {
        guard let (host, port) = HostText.parse(authority) else { return nil }
        let usual: Int
        switch scheme?.lowercased() {
        case nil, "https": usual = 443
        case "http" where HostText.isLoopback(host): usual = 80
        default: return nil
        }
        self.host = host
        self.port = port ?? usual
        isDefaultPort = self.port == usual
    }

    /// Reads the server of a URL. Without a scheme, the program might use plain HTTP, so this is `nil`.
    init?(url: String) {
        guard url.contains("://") else { return nil }
        self.init(registry: url)
    }

    /// Reads a registry as Docker names it: a URL, or a host with an optional path.
    init?(registry: String) {
        let parts = registry.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard let rest = parts.last else { return nil }
        // Not the path of a URL: `\` and `@` are no characters of a host, so such a text is refused.
        let authority = rest.prefix { !"/?#".contains($0) }
        self.init(authority, scheme: parts.count == 2 ? parts.first : nil)
    }

    /// The host, with its port if that is not the protocol's own.
    var authority: String { isDefaultPort ? host : "\(host):\(port)" }
}

/// The servers that a user has named for a token.
struct HostPattern: Equatable {
    /// The host, or what follows the `*` of `*.example.com`.
    private let name: String
    private let isWildcard: Bool
    private let port: Int?

    /// Reads `HOST[:PORT]`. `*.example.com` stands for hosts with one label more, as in a certificate.
    init?(_ text: some StringProtocol) {
        isWildcard = text.hasPrefix("*.")
        guard let (host, port) = HostText.parse(isWildcard ? String(text.dropFirst(2)) : String(text)) else {
            return nil
        }
        guard !isWildcard || host.contains(".") && !host.hasPrefix("[") else { return nil }
        name = isWildcard ? ".\(host)" : host
        self.port = port
    }

    /// Whether the token may go to this server. Without a port, only the protocol's own port is meant.
    func matches(_ destination: Destination) -> Bool {
        guard port.map({ $0 == destination.port }) ?? destination.isDefaultPort else { return false }
        guard isWildcard else { return destination.host == name }
        let label = destination.host.dropLast(name.utf8.count)
        return destination.host.hasSuffix(name) && !label.isEmpty && !label.contains(".")
    }

    /// The host with its port; nil for a wildcard.
    var authority: String? { isWildcard ? nil : port.map { "\(name):\($0)" } ?? name }

    /// The host and the port, for a protocol that names them separately.
    var parts: (host: String, port: Int?)? { isWildcard ? nil : (name, port) }
}

extension [HostPattern] {
    func allow(_ destination: Destination?) -> Bool {
        destination.map { destination in contains { $0.matches(destination) } } ?? false
    }
}

private enum HostText {
    /// Reads `HOST[:PORT]`; nil if there is any character that no host has.
    static func parse(_ text: some StringProtocol) -> (host: String, port: Int?)? {
        guard let end = end(ofHostIn: text) else { return nil }
        let host = text[..<end].lowercased()
        let rest = text[end...]
        if rest.isEmpty { return (host, nil) }
        guard rest.utf8.dropFirst().allSatisfy(\.isASCIIDigit),
            let port = UInt16(rest.dropFirst()), port > 0
        else { return nil }
        return (host, Int(port))
    }

    private static func end<Text: StringProtocol>(ofHostIn text: Text) -> Text.Index? {
        if text.hasPrefix("[") {
            guard let bracket = text.firstIndex(of: "]"), text[..<bracket].dropFirst().utf8.allSatisfy(isOfAddress),
                text[..<bracket].dropFirst().contains(":")
            else { return nil }
            let end = text.index(after: bracket)
            return end == text.endIndex || text[end] == ":" ? end : nil
        }
        let end = text.firstIndex(of: ":") ?? text.endIndex
        let labels = text[..<end].utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.allSatisfy { !$0.isEmpty && $0.allSatisfy(isOfName) } ? end : nil
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || "-_".utf8.contains(byte)
    }

    private static func isOfAddress(_ byte: UInt8) -> Bool {
        Hexadecimal.value(of: byte) != nil || ":.".utf8.contains(byte)
    }

    /// Whether the host is this machine, so that an unencrypted connection shows the token to no network.
    static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "127.0.0.1" || host == "[::1]"
    }
}
