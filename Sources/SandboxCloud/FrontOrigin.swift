/// The origin under which clients reach a sandbox that has a TLS front before it.
package struct FrontOrigin: Equatable, Sendable {
    /// Why a text is no such origin.
    package struct Refused: Error, CustomStringConvertible {
        /// What is wrong, and what to write instead.
        package let description: String
    }

    /// As it was given: `https://localhost:8443`.
    let text: String

    /// Reads `https://HOST:PORT`, where HOST is one that the sandbox may listen at, too.
    package init(_ text: String) throws(Refused) {
        let scheme = "https://"
        guard text.hasPrefix(scheme), let address = try? ListenAddress(String(text.dropFirst(scheme.count))),
            address.port > 0
        else {
            throw Refused(
                description: """
                    '\(text)' is not the origin of a TLS front on this machine, such as https://localhost:8443
                    """
            )
        }
        self.text = text
    }
}
