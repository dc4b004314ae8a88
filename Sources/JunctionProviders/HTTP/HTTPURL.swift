import JunctionText

/// The exact URL of one resource: its origin, and its path and query without any change.
///
/// Metadata of servers has double slashes, slashes at the end and queries, and each of them matters.
package struct HTTPURL: Hashable, Sendable {
    package let text: String
    /// The origin, without a path.
    let origin: HTTPOrigin
    /// The path and the query.
    let target: String

    /// Parses a URL. The scheme must be https, or http on loopback.
    package init(_ url: String) throws(ProviderConfigurationFault) {
        guard let behind = url.aroundSchemeMark?.rest else {
            throw ProviderConfigurationFault("Not a URL: expected https://HOST[:PORT][/PATH]")
        }
        let end = behind.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? url.endIndex
        origin = try HTTPOrigin(String(url[..<end]))
        let rest = url[end...]
        guard rest.utf8.allSatisfy(Self.isOfTarget) else {
            throw ProviderConfigurationFault("The URL must have no fragment, and nothing that a URL has to escape")
        }
        target = rest.first == "/" ? String(rest) : "/" + rest
        text = url
    }

    var hasQuery: Bool { target.contains("?") }

    private static func isOfTarget(_ byte: UInt8) -> Bool {
        PercentEncoding.isUnreserved(byte) || "/?:@!$&'()*+,;=%".utf8.contains(byte)
    }
}

extension String {
    /// The text before and after the first `://`.
    var aroundSchemeMark: (word: Substring, rest: Substring)? {
        indices.first { self[$0...].hasPrefix("://") }.map { (self[..<$0], self[$0...].dropFirst(3)) }
    }
}
