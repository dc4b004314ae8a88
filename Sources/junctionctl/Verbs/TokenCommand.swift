import ArgumentParser

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

    var question: TokenQuestion { TokenQuestion(minimumValidity: minValidity, daemon: options.daemon) }

    func run() throws {
        try end(question.answer())
    }
}
