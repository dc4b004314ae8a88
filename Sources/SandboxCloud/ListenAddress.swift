/// The loopback address and port on which the sandbox listens. Other machines cannot reach it.
package struct ListenAddress: Equatable, Sendable {
    /// A loopback address, without brackets.
    package let host: String
    /// The port, or 0 for any free port.
    package let port: Int

    /// Reads `HOST:PORT`, where HOST is in 127.0.0.0/8, `[::1]` or `localhost`.
    package init(_ text: String) throws(StartFailure) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65535).contains(port)
        else {
            throw StartFailure("expected HOST:PORT, such as 127.0.0.1:8787")
        }
        guard let host = Self.loopback(text[..<colon]) else {
            throw StartFailure(
                """
                expected a loopback address; the sandbox gives tokens to anybody who asks, so it listens on \
                127.0.0.1, [::1] or localhost only
                """
            )
        }
        self.host = host
        self.port = port
    }

    /// Returns the address as in a URL, with the actual port.
    func authority(port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    private static func loopback(_ host: Substring) -> String? {
        // The name is not resolved, because the result depends on the machine's configuration.
        if host == "localhost" { return "127.0.0.1" }
        if host == "[::1]" { return "::1" }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        guard numbers.count == 4, numbers[0] == 127, !numbers.contains(nil) else { return nil }
        return String(host)
    }
}
