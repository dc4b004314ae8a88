import JunctionSecret
import JunctionSession
import JunctionText
import Synchronization

import struct Crypto.SHA256

/// What the provider's answers have shown about the network's secure mode. In secure mode a user needs an auth token.
///
/// The provider has one code, 400100, for a deleted user and for an auth token that is missing or refused. An earlier
/// login without an auth token tells the two apart. The provider's memory has that fact, so it survives sign-outs and
/// restarts.
final class SecureMode: Sendable {
    private let memory: any ProviderMemory
    /// Names the network by a digest of its API key.
    private let fact: String
    private let state: Mutex<State>

    private struct State {
        /// Whether the provider has taken a user without an auth token. It is read at the start, so that no answer waits
        /// for the disk.
        var takesUsersWithoutToken: Bool
        /// The last user whom the provider refused without an auth token.
        var refused: Identity?
    }

    init(of cloud: SocialCloud, apiKey: SharedSecret?, remembering memory: any ProviderMemory) {
        self.memory = memory
        var hash = SHA256()
        hash.update(data: Array("social.plus without auth tokens \(cloud.api.place)\n".utf8))
        apiKey?.withUnsafeBytes { hash.update(bufferPointer: $0) }
        fact = Hexadecimal.text(hash.finalize())
        state = Mutex(State(takesUsersWithoutToken: memory.isNoted(fact)))
    }

    func granted(_ login: UserLogin) {
        if login.authToken == nil {
            state.withLock { $0.refused = nil }
            remember(true)
        } else if state.withLock({ $0.refused?.isSameUser(as: login.identity) == true }) {
            authTokenWasMissing()
        }
    }

    /// The provider refused a user whom it has not deleted, and the login had no auth token.
    func authTokenWasMissing() {
        remember(false)
    }

    private func remember(_ takesUsersWithoutToken: Bool) {
        state.withLock { $0.takesUsersWithoutToken = takesUsersWithoutToken }
        memory.note(takesUsersWithoutToken ? fact : nil)
    }

    /// Returns why a login was refused with 400100, and the next step.
    func refused(_ login: UserLogin) -> String {
        if login.authToken != nil {
            return "it has deleted the user, or it does not take the auth token: get a fresh one from your server"
        }
        let refusedBefore = state.withLock { state in
            defer { state.refused = login.identity }
            return state.refused
        }
        // Two users in turn are hardly deleted: secure mode was switched on.
        if let refusedBefore, !refusedBefore.isSameUser(as: login.identity) { authTokenWasMissing() }
        return state.withLock(\.takesUsersWithoutToken)
            ? "it has taken users without an auth token, so it has most likely deleted this one: sign in another user"
            : "it has deleted the user, or secure mode is on: then sign in with an auth token from your server"
    }

    /// Returns why the provider ends a session with 400100.
    func endOfSession() -> String {
        state.withLock(\.takesUsersWithoutToken)
            ? "social.plus has taken users without an auth token, so it has most likely deleted this one"
            : SocialVerdict.unauthorized.message
    }
}
