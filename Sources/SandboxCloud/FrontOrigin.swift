/// The origin under which clients reach a sandbox that has a TLS front before it.
package struct FrontOrigin: Equatable, Sendable {
    /// As it was given: `https://localhost:8443`.
    let text: String

    /// The host and the port of it.
    var authority: Substring { text.dropFirst(Self.scheme.count) }

    private static let scheme = "https://"

    /// Reads `https://HOST:PORT`, where HOST is one that the sandbox may listen at, too.
    package init(_ text: String) throws(StartFailure) {
        guard text.hasPrefix(Self.scheme),
            let address = try? ListenAddress(String(text.dropFirst(Self.scheme.count))),
            address.port > 0
        else {
            throw StartFailure(
                description: "this is not the origin of a TLS front on this machine, such as https://localhost:8443"
            )
        }
        self.text = text
    }
}
