import ArgumentParser
import JunctionClient
import JunctionProtocol

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Prints an access token of the signed-in user.",
        discussion: """
            The daemon first renews the token if necessary. --json also prints its expiry and its user. --header prints \
            a line for curl: 'junctionctl token --header | curl --header @- URL'. The token is then in no argument.
            """
    )

    @Option(help: ArgumentHelp("How long the token has to be valid at least.", valueName: "seconds"))
    var minValidity: Double?

    @Flag(help: "Print it as a header field: 'Authorization: Bearer …'.")
    var header = false

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard !header || !options.json else { throw ValidationError("--header and --json cannot be combined") }
        if let minValidity { try requireSeconds(minValidity, "--min-validity") }
    }

    /// Prints the token directly from wiped memory; it never becomes a `String`.
    func run() throws {
        let token = try options.ask(TokenGet.self, TokenGet.Params(minimumValidity: minValidity))
        if options.json { return try StandardOutput.line(token.json) }
        if header { try StandardOutput.text("Authorization: Bearer ") }
        try token.value.accessToken.withUnsafeBytes(StandardOutput.write)
        try StandardOutput.line("")
    }
}
