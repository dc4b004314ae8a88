import JunctionSecret
import JunctionText

/// The address of the proxy for every host except loopback (`[network] proxy`, or the environment).
package struct ProxyAddress: Sendable {
    /// The URL, with its credentials if it has any.
    let url: SharedSecret
    /// The address for messages and logs. It never contains the part before the `@`.
    package let place: String

    /// Parses `http://[USER:PASSWORD@]HOST:PORT`, or the same with https, socks5 or socks5h.
    package init(_ text: String) throws(ProviderConfigurationFault) {
        guard text.utf8.allSatisfy(\.isVisibleASCII), text.utf8.count <= 4_096 else {
            throw Self.fault
        }
        // In environment variables the scheme may be missing.
        let (word, rest) = text.aroundSchemeMark ?? ("http", text[...])
        let scheme = word.lowercased()
        let authority = rest.prefix { $0 != "/" }
        let tail = rest[authority.endIndex...]
        let host = authority[(authority.lastIndex(of: "@").map(authority.index(after:)) ?? authority.startIndex)...]
        // Other parsers could see the end of the host, or another host, at these characters. They must be
        // percent-encoded.
        let isPlain = !authority.contains { "?#\\".contains($0) } && authority.filter { $0 == "@" }.count <= 1
        guard ["http", "https", "socks5", "socks5h"].contains(scheme), isPlain, tail.isEmpty || tail == "/" else {
            throw Self.fault
        }
        // Checks the host and the port like those of any other URL. The scheme does not matter for that.
        do throws(ProviderConfigurationFault) {
            _ = try HTTPOrigin("https://\(host)")
        } catch {
            throw Self.fault
        }
        self.url = SharedSecret(text: "\(scheme)://\(authority)")
        place = "\(scheme)://\(host)"
    }

    private static let fault = ProviderConfigurationFault(
        "Not a proxy: expected http://[USER:PASSWORD@]HOST:PORT (or https, socks5, socks5h)"
    )
}

extension ProxyAddress: Equatable {
    package static func == (one: ProxyAddress, other: ProxyAddress) -> Bool { one.url.matches(other.url) }
}

extension ProxyAddress: CustomStringConvertible {
    package var description: String { place }
}
