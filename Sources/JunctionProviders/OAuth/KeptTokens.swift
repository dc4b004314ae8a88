import JunctionSecret
import JunctionSession
import Synchronization

/// Tokens that a server has granted for a credential, until it is known whose they are, or somebody signs out.
///
/// Whom a code was for may be told by a second request, and what a person has approved must not be lost to a trouble between
/// the two. Only a few are kept, and not for long.
final class KeptTokens: Sendable {
    typealias Era = Undecided<OAuthTokens>.Era

    private let state = Mutex(State())

    private struct State {
        var kept = Undecided<OAuthTokens>()
        var isWatched = false
    }

    /// A person's approval on another screen may wait while somebody else's sign-ins have trouble.
    static let most = 4
    static let longest: Duration = .seconds(3_600)

    /// How long they wait for a next try.
    let time: Duration

    init(for time: Duration = longest) {
        self.time = time
    }

    /// What comes of a request is of the era in which it was begun.
    var era: Era { state.withLock { $0.kept.era } }

    /// Keeps them for this credential's next try.
    ///
    /// - Returns: tokens that there is no room for: the eldest, or these ones where there was a sign-out since.
    func keep(_ tokens: OAuthTokens, of credential: SharedSecret, at now: Moment, since era: Era) -> [OAuthTokens] {
        state.withLock { state in
            guard state.kept.keep(tokens, of: credential, at: now, since: era) else { return [tokens] }
            return state.kept.dropEldest(beyond: Self.most)
        }
    }

    /// What this credential brought earlier.
    func tokens(of credential: SharedSecret) -> OAuthTokens? { state.withLock { $0.kept.brought(by: credential) } }

    /// It is decided whose they are.
    func forget(_ credential: SharedSecret) { state.withLock { $0.kept.forget(credential) } }

    /// Lets go of those that are too old: nobody will ask for them again.
    func expire(_ now: Moment) -> [OAuthTokens] {
        state.withLock { $0.kept.expire { now.uptime - $1 > time } }
    }

    /// Somebody has to look again when their time is over, unless somebody does already.
    func watch() -> Bool {
        state.withLock { state in
            guard state.kept.count > 0, !state.isWatched else { return false }
            state.isWatched = true
            return true
        }
    }

    func watched() { state.withLock { $0.isWatched = false } }

    /// Somebody signs out: what is under way is not kept, either.
    func signedOut() -> [OAuthTokens] { state.withLock { $0.kept.signedOut() } }
}
