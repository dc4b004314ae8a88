import ArgumentParser
import JunctionClient
import JunctionProtocol

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Tells who is signed in.",
        discussion: """
            Ends with exit code 3 when nobody is, and with 75 when the daemon cannot open the stored session, so that no \
            token can be had. It prints the state in every case.
            """
    )

    @OptionGroup var options: GlobalOptions

    /// The settings that wait for a restart of the daemon. An error of this second request is ignored.
    func run() throws {
        let status = try options.ask(SessionStatus.self, NoParams())
        try options.show(status) { SnapshotText($0, pendingRestart: PendingRestart(options)).paragraph }
        try end(ExitStatus(status.value))
    }
}

extension ExitStatus {
    /// The exit code of `status`. It equals that of `token`, as far as the storage and the sign-in decide it.
    init(_ snapshot: Snapshot) {
        self = !snapshot.storage.isReadable ? .temporary : snapshot.isSignedIn ? .done : .notSignedIn
    }
}
