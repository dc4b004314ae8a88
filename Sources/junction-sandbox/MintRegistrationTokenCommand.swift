import ArgumentParser
import Glibc
import RegistrationToken

/// `junction-sandbox mint-registration-token`: creates a token as an app's backend does for an authenticated user.
struct MintRegistrationTokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mint-registration-token",
        abstract: "Print a Sinch registration token.",
        discussion: "The secret comes from a file, never from an argument. docs/registration-token.md has the rules."
    )

    @OptionGroup
    var application: ApplicationOptions

    @Option(help: "Whom the token is for: 1 to 40 printable ASCII characters.")
    var user: String

    @Option(help: "When it is made: seconds since 1970, or RFC 3339; default now.")
    var issuedAt: PointInTime?

    @Option(help: "What makes it unique; default random.")
    var nonce: String?

    @Option(help: "How many seconds it can be presented, from \(RegistrationToken.shortestTimeToLive).")
    var ttl = RegistrationToken.usualTimeToLive

    @Option(help: "How many seconds the registration lasts, from 48 hours; without it, it has no end.")
    var instanceTtl: Int64?

    func run() throws {
        let secret = try application.secret()
        do throws(RegistrationToken.Rule) {
            let token = try RegistrationToken(
                applicationKey: application.applicationKey,
                userId: user,
                issuedAt: (issuedAt ?? .now).seconds,
                timeToLive: ttl,
                instanceTimeToLive: instanceTtl,
                nonce: nonce ?? RegistrationToken.freshNonce()
            )
            say(token.signed(with: secret), to: STDOUT_FILENO)
        } catch {
            throw ValidationError("such a token would break the rule \(error.rawValue): \(error)")
        }
    }
}
