import Glibc
import JunctionClient
import JunctionProtocol

/// An address as a QR code in half blocks, drawn by the program `qrencode`.
struct QRPicture {
    let content: SecretText

    /// Returns nil if this caller may not know an address.
    init?(of authorization: Snapshot.Authorization) {
        guard
            let content = authorization.verificationUriComplete ?? authorization.verificationUri.map({ SecretText($0) })
        else { return nil }
        self.content = content
    }

    /// Ends the verb before the sign-in begins if the program is missing.
    static func requireProgram() throws {
        guard Program.path(of: program) == nil else { return }
        throw CommandFailure(
            "there is no program '\(program)' to draw a QR picture with",
            kind: "qrencodeMissing",
            remedy: "install it (Debian: 'apt install qrencode'), or leave --qr out",
            status: .usage
        )
    }

    private static let program = "qrencode"

    func drawn() throws -> SecretText {
        // The address goes to standard input, because every user can read arguments. On a terminal the colours are
        // explicit, because a camera may not read a light code on a dark background.
        let form = isatty(STDOUT_FILENO) == 1 ? "ANSIUTF8" : "UTF8"
        let command = ShellCommand(
            line: "exec \(Self.program) -t \(form) -m 2 -o -",
            input: content.withUnsafeBytes { Array($0) },
            deadline: .after(.seconds(10))
        )
        return try command.secretOutput("QR picture")
    }
}
