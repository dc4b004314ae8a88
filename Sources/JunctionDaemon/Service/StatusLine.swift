import JunctionSession

/// The state of the session in plain words, for `systemctl status`.
///
/// The service manager shows the line to every user of the machine, so the line never identifies the signed-in user.
enum StatusLine {
    /// - Parameter pendingRestart: the settings that wait for a restart, by their key.
    static func text(for facts: Snapshot.Facts, pendingRestart: [String] = []) -> String {
        let pending = pendingRestart.joined(separator: ", ")
        return session(facts) + (pending.isEmpty ? "" : "; waiting for a restart: \(pending)")
    }

    private static func session(_ facts: Snapshot.Facts) -> String {
        if !facts.storage.isReadable {
            return "No token can be had, the stored session is \(facts.storage.status): run junctionctl doctor"
        }
        return switch facts.state {
        case .notLoggedIn: "Nobody is signed in"
        case .establishing: "Signing in"
        case .established: signedIn(facts)
        case .tokenExpired: "A user is signed in, and the token has expired" + trouble(facts)
        case .terminated: "The provider has terminated the session (\(facts.termination?.code ?? "unknown"))"
        }
    }

    private static func signedIn(_ facts: Snapshot.Facts) -> String {
        let text = "A user is signed in"
        if facts.flags.contains(.pendingReauthentication) { return text + ", and reauthentication is pending" }
        return text + trouble(facts) + (facts.storage.durable ? "" : "; the session is not on disk")
    }

    private static func trouble(_ facts: Snapshot.Facts) -> String {
        if facts.renewal.phase == .waitingForHandler { return "; the renewal waits for a session handler" }
        return facts.renewal.failures > 0 ? "; \(facts.renewal.failures) renewals have failed" : ""
    }
}
