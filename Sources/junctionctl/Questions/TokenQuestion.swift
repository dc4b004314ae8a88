import JunctionClient
import JunctionProtocol

/// May an access token be had?
struct TokenQuestion: Equatable {
    /// How long it has to be valid at least, in seconds.
    var minimumValidity: Double?
    /// As a field of an HTTP request's head.
    var asHeader = false
    var daemon: DaemonAccess

    /// Asks, and prints the token. It never becomes a `String`: it goes from a box that is wiped to standard output.
    func answer() throws -> ExitStatus {
        let token = try daemon.ask(TokenGet.self, TokenGet.Params(minimumValidity: minimumValidity))
        if daemon.json {
            try StandardOutput.line(token.json)
        } else {
            if asHeader { try StandardOutput.text("Authorization: Bearer ") }
            try token.value.accessToken.withUnsafeBytes(StandardOutput.write)
            try StandardOutput.line("")
        }
        return .done
    }
}
