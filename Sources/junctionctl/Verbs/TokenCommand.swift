import ArgumentParser
import JunctionClient
import JunctionProtocol

/// Hands out an access token.
struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Prints an access token of the signed-in user.",
        discussion: "The daemon renews it first if it has to. With --json also when it dies, and whose it is."
    )

    @Option(help: ArgumentHelp("How long the token has to be valid at least.", valueName: "seconds"))
    var minValidity: Double?

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        if let minValidity { try requireSeconds(minValidity, "--min-validity") }
    }

    func run() throws {
        let token = try options.ask(TokenGet.self, TokenGet.Params(minimumValidity: minValidity))
        if options.json {
            try StandardOutput.line(token.json)
        } else {
            try token.value.accessToken.withUnsafeBytes(StandardOutput.write)
            try StandardOutput.line("")
        }
    }
}
