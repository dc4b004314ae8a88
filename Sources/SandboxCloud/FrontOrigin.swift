/// The origin of a TLS proxy in front of the sandbox, as clients see it.
package struct FrontOrigin: Equatable, Sendable {
    /// The origin as given, such as `https://localhost:8443`.
    let text: String

    var authority: Substring { text.dropFirst(Self.scheme.count) }

    private static let scheme = "https://"

    /// Reads `https://HOST:PORT`. HOST must be one of the hosts that the sandbox may listen on.
    package init(_ text: String) throws(StartFailure) {
        guard text.hasPrefix(Self.scheme),
            let address = try? ListenAddress(String(text.dropFirst(Self.scheme.count))),
            address.port > 0
        else {
            throw StartFailure("this is not the origin of a TLS front on this machine, such as https://localhost:8443")
        }
        self.text = text
    }
}
