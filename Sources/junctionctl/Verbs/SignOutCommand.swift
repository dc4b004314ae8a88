import ArgumentParser
import JunctionClient
import JunctionProtocol

struct SignOutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-out",
        abstract: "Signs the user out, from any state and without the network.",
        discussion: "Ends with exit code 75 when that could not be stored: after a restart the user would be back.",
        aliases: ["logout"]
    )

    @OptionGroup var options: GlobalOptions

    func run() throws {
        let state = try options.ask(SessionSignOut.self, NoParams())
        try options.show(state) { SnapshotText($0).paragraph }
        try state.value.requireDurable(
            "the sign-out is not stored: a user who was signed in would be back after a restart"
        )
    }
}
