import ArgumentParser
import JunctionClient
import JunctionProtocol

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Prints an access token of the signed-in user.",
        discussion: """
            The daemon renews it first if it has to. With --json also when it dies, and whose it is. With --header it is \
            a line for curl: 'junctionctl token --header | curl --header @- URL', and in no argument that others can read.
            """
    )

    @Option(help: ArgumentHelp("How long the token has to be valid at least.", valueName: "seconds"))
    var minValidity: Double?

    @Flag(help: "Print it as a header field: 'Authorization: Bearer …'.")
    var header = false

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard !header || !options.json else { throw ValidationError("--header is a line of text, and --json is not") }
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
