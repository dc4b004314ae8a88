import JunctionNetworkHelper
import JunctionText

/// The origin of a service: scheme, host and port, and the path that all its resources share.
///
/// Plain http is allowed on loopback only, because it would show every token to the network.
package struct HTTPOrigin: Hashable, Sendable {
    package enum Scheme: String, Sendable {
        case http
        case https

        var defaultPort: Int { self == .https ? 443 : 80 }
    }

    package let scheme: Scheme
    /// In lower case, and without the brackets of an IPv6 address.
    package let host: String
    package let port: Int
    /// Empty, or a path such as `/auth`: it begins with a slash and does not end with one.
    package let path: String

    /// Makes the origin of a provider's host, with https and the default port.
    init(host: String) {
        self.scheme = .https
        self.host = host
        self.port = Scheme.https.defaultPort
        self.path = ""
    }

    /// Parses a URL of the configuration, with or without a slash at its end.
    package init(_ url: String) throws(ProviderConfigurationFault) {
        guard url.utf8.allSatisfy(\.isVisibleASCII), let (word, rest) = url.aroundSchemeMark else {
            throw ProviderConfigurationFault("Not a URL: expected https://HOST[:PORT][/PATH]")
        }
        guard let scheme = Scheme(rawValue: word.lowercased()) else {
            throw ProviderConfigurationFault("The URL must begin with https:// (or http:// on loopback)")
        }
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.contains("@") else {
            throw ProviderConfigurationFault("The URL must not hold a user name or password")
        }

        let (host, port) = try Self.split(authority, scheme)
        guard scheme == .https || Loopback.isHost(host) else {
            throw ProviderConfigurationFault(
                "http://\(authority) is not encrypted: use https (plain http is accepted on loopback only)"
            )
        }
        self.scheme = scheme
        self.host = host
        self.port = port
        self.path = try Self.plainPath(rest[authority.endIndex...])
    }

    /// The name for messages and logs: the host, and the port unless it is the default.
    package var place: String {
        port == scheme.defaultPort ? host : "\(bracketedHost):\(port)"
    }

    /// The URL to which paths are appended.
    var url: String {
        let port = port == scheme.defaultPort ? "" : ":\(port)"
        return "\(scheme.rawValue)://\(bracketedHost)\(port)\(path)"
    }

    private var bracketedHost: String { host.contains(":") ? "[\(host)]" : host }
}

extension HTTPOrigin {
    private static func split(
        _ authority: Substring,
        _ scheme: Scheme
    ) throws(ProviderConfigurationFault) -> (host: String, port: Int) {
        let isBracketed = authority.first == "["
        let end =
            isBracketed
            ? authority.firstIndex(of: "]").map(authority.index(after:)) ?? authority.startIndex
            : authority.firstIndex(of: ":") ?? authority.endIndex

        let host = authority[..<end].lowercased()
        let isValid = isBracketed ? NetworkAddress(host)?.bytes.count == 16 : isName(host)
        guard isValid else { throw ProviderConfigurationFault("The URL has no valid host") }

        let port: Int
        switch authority[end...] {
        case "":
            port = scheme.defaultPort
        case let text:
            guard text.first == ":", text.dropFirst().utf8.allSatisfy(\.isASCIIDigit),
                let number = Int(text.dropFirst()), (1...65_535).contains(number)
            else { throw ProviderConfigurationFault("The port in the URL must be a number from 1 to 65535") }
            port = number
        }
        return (isBracketed ? String(host.dropFirst().dropLast()) : host, port)
    }

    private static func plainPath(_ text: Substring) throws(ProviderConfigurationFault) -> String {
        var path = text
        while path.last == "/" { path.removeLast() }
        let isPlain = path.utf8.allSatisfy { PercentEncoding.isUnreserved($0) || $0 == UInt8(ascii: "/") }
        guard isPlain, !path.split(separator: "/").contains(where: { $0 == "." || $0 == ".." }) else {
            throw ProviderConfigurationFault("The path in the URL must be plain: no query, fragment, dots or escapes")
        }
        return String(path)
    }

    private static func isName(_ host: String) -> Bool {
        // RFC 1035 §2.3.4.
        host.utf8.count <= 253 && host.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-._".utf8.contains($0) }
            && host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty }
    }
}
