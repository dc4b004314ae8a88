import ArgumentParser
import JunctionClient
import JunctionProtocol

/// Who is signed in.
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Tells who is signed in.",
        discussion: "Ends with exit code 3 when nobody is, and prints the state nevertheless."
    )

    @OptionGroup var options: GlobalOptions

    /// The settings that wait for a restart of the daemon. An error of this second question does not matter.
    private var pendingRestart: [String] {
        (try? options.ask(DaemonInfo.self, NoParams()).value.pendingRestart) ?? []
    }

    func run() throws {
        let status = try options.ask(SessionStatus.self, NoParams())
        try options.show(status) { SnapshotText($0, pendingRestart: pendingRestart).paragraph }
        try end(status.value.isSignedIn ? .done : .notSignedIn)
    }
}
