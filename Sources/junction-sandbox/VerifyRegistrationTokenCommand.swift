import ArgumentParser
import Glibc
import RegistrationToken

/// `junction-sandbox verify-registration-token`: reports whether a token is valid, or which rule it breaks.
struct VerifyRegistrationTokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify-registration-token",
        abstract: "Say whether the Sinch registration token on standard input is valid, or which rule it breaks.",
        discussion: "Exit code 0 when it is valid, 1 when it is not."
    )

    @OptionGroup
    var application: ApplicationOptions

    @Option(help: "The time that counts as now: seconds since 1970, or RFC 3339; default now.")
    var at: PointInTime?

    func run() throws {
        let secret = try application.secret()
        var jwt = readToEnd(STDIN_FILENO, atMost: 2 * RegistrationToken.longest)
        // The line break that a shell adds is not part of the token.
        while let last = jwt.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { jwt.removeLast() }
        do throws(RegistrationToken.Rule) {
            let token = try RegistrationToken.verify(jwt, with: secret, at: (at ?? .now).seconds)
            try token.requireApplication(application.applicationKey)
            say("valid", to: STDOUT_FILENO)
        } catch {
            say("invalid: \(error.rawValue): \(error)", to: STDOUT_FILENO)
            throw ExitCode.failure
        }
    }
}
