/// One resource of a service, called exactly as it was written: where it is, and its path and query to the letter.
///
/// A server's own metadata has double slashes, slashes at the end and queries, and all of them mean something there.
package struct HttpUrl: Hashable, Sendable {
    package let text: String
    /// Without any path.
    let origin: HttpOrigin
    /// Path and query.
    let target: String

    /// Takes https, and plain http on loopback.
    package init(_ url: String) throws(ProviderConfigurationFault) {
        guard let behind = url.aroundSchemeMark?.rest else {
            throw ProviderConfigurationFault("Not a URL: expected https://HOST[:PORT][/PATH]")
        }
        let end = behind.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? url.endIndex
        origin = try HttpOrigin(String(url[..<end]))
        let rest = url[end...]
        guard rest.utf8.allSatisfy(Self.isOfTarget) else {
            throw ProviderConfigurationFault("The URL must have no fragment, and nothing that a URL has to escape")
        }
        target = rest.first == "/" ? String(rest) : "/" + rest
        text = url
    }

    /// The part behind `?`.
    var hasQuery: Bool { target.contains("?") }

    private static func isOfTarget(_ byte: UInt8) -> Bool {
        PercentEncoding.isUnreserved(byte) || "/?:@!$&'()*+,;=%".utf8.contains(byte)
    }
}

extension String {
    /// What stands before and behind the first `://`.
    var aroundSchemeMark: (word: Substring, rest: Substring)? {
        indices.first { self[$0...].hasPrefix("://") }.map { (self[..<$0], self[$0...].dropFirst(3)) }
    }
}
