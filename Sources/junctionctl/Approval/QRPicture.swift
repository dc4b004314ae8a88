import Glibc
import JunctionClient
import JunctionProtocol

/// An address as a picture for the camera of a phone, in half blocks, made by the program `qrencode`.
struct QRPicture {
    /// What it shows: the address that has the code in it, where the provider has one.
    let content: SecretText

    /// Nothing when there is no address that this caller may know.
    init?(of authorization: Snapshot.Authorization) {
        guard
            let content = authorization.verificationUriComplete ?? authorization.verificationUri.map({ SecretText($0) })
        else { return nil }
        self.content = content
    }

    /// Ends the verb before anything has begun, where there can be no picture.
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

    /// Draws it.
    func drawn() throws -> SecretText {
        // The address comes on standard input: arguments can be read by every user. On a terminal the colours are said, too,
        // since a camera does not take light on dark for dark on light.
        let form = isatty(STDOUT_FILENO) == 1 ? "ANSIUTF8" : "UTF8"
        let command = ShellCommand(
            line: "exec \(Self.program) -t \(form) -m 2 -o -",
            input: content.withUnsafeBytes { Array($0) },
            deadline: .after(.seconds(10))
        )
        return try command.secretOutput("QR picture")
    }
}
