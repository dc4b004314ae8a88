import JunctionClient
import JunctionProtocol

/// Who is signed in?
struct StatusQuestion: Equatable {
    var daemon: DaemonAccess

    /// Asks, and prints the state, whoever is signed in.
    func answer() throws -> ExitStatus {
        let status = try daemon.ask(SessionStatus.self, NoParams())
        try daemon.show(status) { SnapshotText($0).paragraph }
        return status.value.isSignedIn ? .done : .notSignedIn
    }
}
