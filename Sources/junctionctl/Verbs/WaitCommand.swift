import ArgumentParser
import JunctionClient
import JunctionProtocol

/// Waits until the session has the wanted state.
struct WaitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Waits until somebody is signed in, or whatever else is asked for.",
        discussion: """
            It also waits for the daemon to come up, or to come back. Without --timeout it waits for ever; \
            with it, the exit code is 75 when the time is over. With fresh it ends at once if waiting cannot help. \
            The exit code is 75 if the daemon cannot open the stored session, or if the token has expired and the user \
            has to sign in again. It is 1 if the provider has terminated the session.
            """
    )

    @Option(name: .customLong("for"), help: "What to wait for; fresh is signed in with a living token.")
    var goal = Goal.signedIn

    @OptionGroup var options: GlobalOptions

    enum Goal: String, ExpressibleByArgument, CaseIterable {
        case signedIn = "signed-in"
        case signedOut = "signed-out"
        case fresh
    }

    func run() throws {
        // Here the deadline is that of the whole wait.
        let deadline = options.deadline
        var feed = SnapshotFeed(from: options.path, patience: .whileAbsent)
        do {
            var state = try feed.next(by: deadline)
            while !goal.isReached(by: state.value, at: .now) {
                if let obstacle = goal.obstacle(in: state.value) { throw obstacle }
                state = try feed.next(by: deadline)
            }
            try options.show(state) { SnapshotText($0).line }
        } catch let error as JunctionError where error.kind == .timedOut {
            let cause = feed.isConnected ? "" : ": no daemon answers on \(options.path)"
            throw CommandFailure(
                "the session did not become '\(goal.rawValue)' in time\(cause)",
                kind: "timedOut",
                remedy: feed.isConnected
                    ? "see 'junctionctl status'" : "start junctiond, or name its socket with --socket",
                status: .temporary
            )
        }
    }
}

extension WaitCommand.Goal {
    func isReached(by snapshot: Snapshot, at now: Timestamp) -> Bool {
        switch self {
        case .signedIn: snapshot.isSignedIn
        case .signedOut: !snapshot.isSignedIn && snapshot.state != .establishing
        // The session of an API key has no token that expires.
        case .fresh:
            // If the stored session cannot be opened, the state comes from its header, and there is no token.
            snapshot.storage.isReadable && snapshot.state == .established
                && snapshot.accessToken.map { $0.expiresAt > now } ?? true
        }
    }

    /// Why waiting is useless: a user has to act first. Call it only if the goal is not reached.
    func obstacle(in snapshot: Snapshot) -> CommandFailure? {
        guard self == .fresh else { return nil }
        if !snapshot.storage.isReadable {
            return CommandFailure(
                "the stored session is \(snapshot.storage.status): it does not become fresh by waiting",
                kind: "storageUnavailable",
                remedy: snapshot.storage.reason ?? "run 'junctionctl doctor'",
                status: .temporary
            )
        }
        // The goal is not reached, so the token has expired and is not renewed.
        if snapshot.isSignedIn, snapshot.flags.contains(.pendingReauthentication), snapshot.state != .establishing {
            return CommandFailure(
                "the provider wants a new credential of the signed-in user: the session does not become fresh by waiting",
                kind: "reauthenticationRequired",
                remedy: "sign the same user in again with 'junctionctl sign-in'",
                status: .temporary
            )
        }
        guard snapshot.state == .terminated else { return nil }
        let why = snapshot.termination.map { ": \($0.message) (\($0.code))" } ?? ""
        return CommandFailure(
            "the provider has terminated the session\(why)",
            kind: "sessionTerminated",
            remedy: "sign in anew with 'junctionctl sign-in'"
        )
    }
}
