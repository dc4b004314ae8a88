import JunctionSecret
import JunctionSession
import Synchronization

/// The Sign-In Tokens that link codes brought, each until its exchange is decided, it has expired, or somebody signs out.
///
/// Codes may come from several callers, and none of them takes another one's place.
final class LinkedTokens: Sendable {
    typealias Era = Undecided<SignInToken>.Era

    private let kept = Mutex(Undecided<SignInToken>())

    /// More than are ever undecided at a time. A code beyond them is not spent at all: what it brings could not be kept.
    static let most = 16

    /// What comes of a request is of the era in which it was begun.
    var era: Era { kept.withLock { $0.era } }

    /// Whether what a further code brings can be kept.
    var hasRoom: Bool { kept.withLock { $0.count < Self.most } }

    /// Keeps nothing when there was a sign-out since.
    ///
    /// - Returns: whether it is kept.
    func keep(_ token: SignInToken, of code: LinkCode, at now: Moment, since era: Era) -> Bool {
        kept.withLock { $0.keep(token, of: SharedSecret(text: code.text), at: now, since: era) }
    }

    /// What this code brought earlier; those that are over are let go of, whoever asks.
    func token(of code: LinkCode, at now: Moment) -> SignInToken? {
        expire(now)
        return kept.withLock { $0.brought(by: SharedSecret(text: code.text)) }
    }

    /// Lets go of those that are over.
    func expire(_ now: Moment) {
        kept.withLock { kept in
            _ = kept.expire { token, since in token.life.map { now.uptime - since > $0 } ?? false }
        }
    }

    /// The exchange is decided.
    func forget(_ code: LinkCode) { kept.withLock { $0.forget(SharedSecret(text: code.text)) } }

    /// Somebody signs out: what is under way is not kept, either.
    func signedOut() { kept.withLock { _ = $0.signedOut() } }
}
