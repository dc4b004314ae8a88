import JunctionSecret
import JunctionSession
import Synchronization

/// Tokens that a server has granted for a credential, until it is known whose they are, or somebody signs out.
///
/// A code is good once, and whom it was for may be told by a second request: a trouble that passes between the two would
/// otherwise lose what a person has approved. Only the newest are kept, and not for long.
final class KeptTokens: Sendable {
    private let state = Mutex(State())

    private struct State {
        var kept: Kept?
        var era = Era(number: 0)
    }

    private struct Kept {
        var credential: SharedSecret
        var tokens: OAuthTokens
        var since: Uptime
    }

    /// The time between two sign-outs.
    struct Era: Equatable {
        fileprivate var number: UInt64
    }

    static let longest: Duration = .seconds(3_600)

    /// What comes of a request is of the era in which it was begun.
    var era: Era { state.withLock { $0.era } }

    /// Keeps them for this credential's next try.
    ///
    /// - Returns: tokens that nobody will ask for again: those that were kept before, or these ones where there was a
    ///   sign-out since.
    func keep(_ tokens: OAuthTokens, of credential: SharedSecret, at now: Moment, since era: Era) -> OAuthTokens? {
        state.withLock { state in
            guard state.era == era else { return tokens }
            let before = state.kept.flatMap { $0.credential.matches(credential) ? nil : $0.tokens }
            state.kept = Kept(credential: credential, tokens: tokens, since: now.uptime)
            return before
        }
    }

    /// What this credential brought earlier.
    func tokens(of credential: SharedSecret) -> OAuthTokens? {
        state.withLock { $0.kept.flatMap { $0.credential.matches(credential) ? $0.tokens : nil } }
    }

    /// It is decided whose they are.
    func forget(_ credential: SharedSecret) {
        state.withLock { state in
            if state.kept?.credential.matches(credential) == true { state.kept = nil }
        }
    }

    /// Lets go of those that are too old: nobody will ask for them again.
    func expire(_ now: Moment) -> OAuthTokens? {
        state.withLock { state in
            guard let kept = state.kept, now.uptime - kept.since > Self.longest else { return nil }
            state.kept = nil
            return kept.tokens
        }
    }

    /// Somebody signs out: what is under way is not kept, either.
    func signedOut() -> OAuthTokens? {
        state.withLock { state in
            defer { (state.kept, state.era.number) = (nil, state.era.number + 1) }
            return state.kept?.tokens
        }
    }
}
