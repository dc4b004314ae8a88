import JunctionSecret
import JunctionSession
import Synchronization

/// The Sign-In Token that a link code brought, until its exchange is decided, or somebody signs out.
///
/// A code is good once, and what it brings is exchanged by a second request: a trouble that passes between the two would
/// otherwise spend the code for nothing. Only the newest is kept, for about as long as a code itself is good.
final class LinkedToken: Sendable {
    private let state = Mutex(State())

    private struct State {
        var kept: Kept?
        var era = Era(number: 0)
    }

    private struct Kept {
        var code: String
        var token: SharedSecret
        var since: Uptime
    }

    /// The time between two sign-outs.
    struct Era: Equatable {
        fileprivate var number: UInt64
    }

    static let longest: Duration = .seconds(3_600)

    /// What comes of a request is of the era in which it was begun.
    var era: Era { state.withLock { $0.era } }

    /// Keeps nothing when there was a sign-out since.
    ///
    /// - Returns: whether it is kept.
    func keep(_ token: SharedSecret, of code: LinkCode, at now: Moment, since era: Era) -> Bool {
        state.withLock { state in
            guard state.era == era else { return false }
            state.kept = Kept(code: code.text, token: token, since: now.uptime)
            return true
        }
    }

    /// What this code brought earlier; one that is too old is let go of, whoever asks.
    func token(of code: LinkCode, at now: Moment) -> SharedSecret? {
        expire(now)
        return state.withLock { $0.kept?.code == code.text ? $0.kept?.token : nil }
    }

    /// Lets go of one that is too old.
    func expire(_ now: Moment) {
        state.withLock { state in
            if let since = state.kept?.since, now.uptime - since > Self.longest { state.kept = nil }
        }
    }

    /// The exchange is decided.
    func forget(_ code: LinkCode) {
        state.withLock { state in
            if state.kept?.code == code.text { state.kept = nil }
        }
    }

    /// Somebody signs out: what is under way is not kept, either.
    func signedOut() {
        state.withLock { state in
            state.kept = nil
            state.era.number += 1
        }
    }
}
