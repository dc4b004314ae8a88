import ArgumentParser

/// Who is signed in.
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Tells who is signed in.",
        discussion: "Ends with exit code 3 when nobody is, and prints the state nevertheless."
    )

    @OptionGroup var options: GlobalOptions

    var question: StatusQuestion { StatusQuestion(daemon: options.daemon) }

    func run() throws {
        try end(question.answer())
    }
}
