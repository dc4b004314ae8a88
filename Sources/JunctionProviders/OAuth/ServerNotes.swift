import JunctionSession
import Synchronization

/// Collects facts from the server's answers that `doctor` reports.
final class ServerNotes: Sendable {
    private let state = Mutex(State())

    private struct State {
        /// The last error about the client. The next grant clears it.
        var complaint: OAuthError?
        /// Whether the last sign-in brought no refresh token.
        var endsWithItsToken = false
        /// The scopes that were requested but not granted.
        var missingScopes: [String] = []
    }

    func granted(_ tokens: OAuthTokens, askedFor scopes: [String], isSignIn: Bool) {
        state.withLock { state in
            state.complaint = nil
            if isSignIn || tokens.refreshToken != nil { state.endsWithItsToken = tokens.refreshToken == nil }
            guard let granted = tokens.scopes else { return }
            // `offline_access` is ignored: some servers never list it, and the refresh token shows whether it was
            // granted.
            state.missingScopes = scopes.filter { !granted.contains($0) && $0 != "offline_access" }
        }
    }

    func received(_ error: OAuthError) {
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
