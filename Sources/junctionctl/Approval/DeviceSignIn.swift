import Glibc
import JunctionClient
import JunctionProtocol

/// A device sign-in (RFC 8628): a person approves it on another screen, and the daemon polls the provider.
struct DeviceSignIn {
    var options: GlobalOptions
    var codes: ApprovalCodes
    var waits: Bool

    /// Prints the codes, waits, and prints who is signed in.
    func run() throws {
        let begun = try options.ask(SessionSignIn.self, .device)
        try codes.show(begun)
        if begun.value.authorization != nil, !waits { return }
        let state = begun.value.authorization == nil ? begun : try conclusion(of: begun.value)
        try options.show(state) { SnapshotText($0).paragraph }
        try state.value.requireDurable("the user is signed in, but would not be after a restart")
    }

    /// Waits for the decision, even if the daemon restarts meanwhile.
    private func conclusion(of begun: Snapshot) throws -> Connection.Answered<Snapshot> {
        let signals = try CaughtSignals(SIGINT, SIGTERM, SIGHUP)
        // A caught signal ends the program here.
        defer { signals.release() }
        let progress = ProgressLine()
        defer { progress.clear() }
        var feed = SnapshotFeed(from: options.path, patience: .always, unless: signals.interruption)
        var awaited = begun.authorization
        while true {
            if let awaited { progress.show(ApprovalText(awaited).waiting) }
            do {
                let state = try feed.next(by: progress.isMoving ? .after(.seconds(1)) : .never)
                switch ApprovalProgress(of: begun, in: state.value) {
                case .awaited(let authorization): awaited = authorization
                case .finishing: continue
                case .approved: return state
                case .ended(let failure): throw failure
                }
            } catch let error as JunctionError where error.kind == .timedOut {
                // One second has passed.
                continue
            } catch let error as JunctionError {
                // A signal came, or this caller may not see the session.
                progress.clear()
                StandardError.note(
                    "the sign-in goes on without this program: see 'junctionctl status'; 'junctionctl sign-out' gives it up"
                )
                throw error
            }
        }
    }
}
