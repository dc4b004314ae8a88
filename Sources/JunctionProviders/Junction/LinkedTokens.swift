import JunctionSecret
import JunctionSession
import Synchronization

/// The Sign-In Tokens that link codes brought, each until its exchange is decided, it has expired, or somebody signs out.
///
/// A code is good once, and what it brings is exchanged by a second request: a trouble that passes between the two would
/// otherwise spend the code for nothing. Codes may come from several callers, and none of them takes another one's place.
final class LinkedTokens: Sendable {
    private let state = Mutex(State())

    private struct State {
        var kept: [Kept] = []
        var era = Era(number: 0)
    }

    private struct Kept {
        var code: SharedSecret
        var token: SignInToken
        var since: Uptime

        func isOver(_ now: Moment) -> Bool { token.life.map { now.uptime - since > $0 } ?? false }
    }

    /// The time between two sign-outs.
    struct Era: Equatable {
        fileprivate var number: UInt64
    }

    /// More than are ever undecided at a time. A code beyond them is not spent at all: what it brings could not be kept.
    static let most = 16

    /// What comes of a request is of the era in which it was begun.
    var era: Era { state.withLock { $0.era } }

    /// Whether what a further code brings can be kept.
    var hasRoom: Bool { state.withLock { $0.kept.count < Self.most } }

    /// Keeps nothing when there was a sign-out since.
    ///
    /// - Returns: whether it is kept.
    func keep(_ token: SignInToken, of code: LinkCode, at now: Moment, since era: Era) -> Bool {
        state.withLock { state in
            guard state.era == era else { return false }
            state.kept.append(Kept(code: SharedSecret(text: code.text), token: token, since: now.uptime))
            return true
        }
    }

    /// What this code brought earlier; those that are over are let go of, whoever asks.
    func token(of code: LinkCode, at now: Moment) -> SignInToken? {
        expire(now)
        let code = SharedSecret(text: code.text)
        return state.withLock { $0.kept.first { $0.code.matches(code) }?.token }
    }

    /// Lets go of those that are over.
    func expire(_ now: Moment) {
        state.withLock { $0.kept.removeAll { $0.isOver(now) } }
    }

    /// The exchange is decided.
    func forget(_ code: LinkCode) {
        let code = SharedSecret(text: code.text)
        state.withLock { $0.kept.removeAll { $0.code.matches(code) } }
    }

    /// Somebody signs out: what is under way is not kept, either.
    func signedOut() {
        state.withLock { state in
            state.kept = []
            state.era.number += 1
        }
    }
}
