import ArgumentParser
import JunctionClient
import JunctionProtocol

/// Answers the daemon's renewal requests with a command of the user.
struct HandleRenewalsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "handle-renewals",
        abstract: "Is the app that the daemon asks for new tokens, until it is interrupted.",
        discussion: """
            For each renewal the command is run with /bin/sh. It gets the request as JSON on standard input, the user \
            also in $\(RenewalScript.userVariable) and the reason in $\(RenewalScript.reasonVariable), and prints \
            the answer: {"action":"renewWithAuthToken","authToken":"…"} with a token from your backend, or renew, or \
            unable. A command that fails, prints anything else or is not done by the deadline was unable to; the \
            daemon then asks other handlers, and nobody again for ten minutes.
            There is one line on standard error when it is registered, and one for each renewal. It goes on when the \
            daemon is restarted; a daemon that is not there at first is an error. It warns if the program of the \
            command does not exist, and if the daemon asks for no renewal because renewal.mode is "automatic".
            """
    )

    @Option(
        name: .customLong("exec"),
        help: ArgumentHelp("The command that prints the answer.", valueName: "command")
    )
    var command: String

    @OptionGroup var options: GlobalOptions

    func run() throws {
        let script = RenewalScript(line: command)
        if script.programIsMissing {
            StandardError.note(
                "warning: the program in --exec does not exist or cannot be executed: until it can, each renewal fails"
            )
        }
        var feed = RenewalFeed(from: options.path, patience: .onceConnected)
        var question = try options.waiting { by throws(JunctionError) in
            try feed.next(registeredBy: by, registered: Self.report)
        }
        while true {
            let outcome = script.outcome(of: question)
            question.answer(outcome.answer)
            StandardError.note(outcome.line(about: question.request))
            if options.json { try StandardOutput.json { outcome.write(about: question.request, to: &$0) } }
            question = try feed.next(registered: Self.report)
        }
    }

    private static func report(_ answer: HandlerRegister.Answer) {
        StandardError.note("registered as session handler; waiting for renewals")
        guard answer.mode == "automatic" else { return }
        StandardError.note(
            "warning: renewal.mode is \"automatic\": the daemon renews by itself and asks session handlers only for a "
                + "sign-in that needs one; to have each renewal asked for, set renewal.mode = \"handler\" and restart junctiond"
        )
    }
}
