import JunctionSession
import Synchronization

/// What a server's answers said that a person should know, for `doctor`.
final class ServerNotes: Sendable {
    private let state = Mutex(State())

    private struct State {
        /// The last word against the client, until a form is taken again.
        var complaint: OAuthError?
        /// The last sign-in brought nothing to renew with.
        var endsWithItsToken = false
        /// The scopes that were asked for and not granted.
        var missingScopes: [String] = []
    }

    /// The server took a form.
    func granted(_ tokens: OAuthTokens, askedFor scopes: [String], isSignIn: Bool) {
        state.withLock { state in
            state.complaint = nil
            if isSignIn || tokens.refreshToken != nil { state.endsWithItsToken = tokens.refreshToken == nil }
            guard let granted = tokens.scopes else { return }
            // What that one is for is there or not, and some servers never name it.
            state.missingScopes = scopes.filter { !granted.contains($0) && $0 != "offline_access" }
        }
    }

    /// The server gave a reason.
    func heard(_ error: OAuthError) {
        guard case .client = error else { return }
        state.withLock { $0.complaint = error }
    }

    var findings: [ProbeFinding] {
        let state = state.withLock { $0 }
        var findings: [ProbeFinding] = []
        if let complaint = state.complaint {
            findings.append(
                ProbeFinding(
                    name: "provider client",
                    verdict: .problem,
                    detail: "The server answered \(complaint.word) the last time",
                    remedy: complaint.remedy.map { $0.prefix(1).uppercased() + $0.dropFirst() }
                )
            )
        }
        if state.endsWithItsToken {
            findings.append(
                ProbeFinding(
                    name: "provider refresh token",
                    verdict: .note,
                    detail: "The sign-in brought no refresh token: the session ends with its access token",
                    remedy: "Most servers want offline_access among oauth.scopes, and allow it for the client"
                )
            )
        }
        if !state.missingScopes.isEmpty {
            findings.append(
                ProbeFinding(
                    name: "provider scopes",
                    verdict: .note,
                    detail: "The server did not grant: \(state.missingScopes.joined(separator: ", "))",
                    remedy: "Allow them for the client at the server, or take them out of oauth.scopes"
                )
            )
        }
        return findings
    }
}
