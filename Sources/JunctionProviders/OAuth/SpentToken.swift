import JunctionSecret
import Synchronization

/// A refresh token that took the place of the session's own in an answer that could not be used otherwise.
///
/// The session can be given no such answer, and a server that rotates takes the spent token for a thief's. What is kept means
/// nothing to a session that has the successor.
final class SpentToken: Sendable {
    private let state = Mutex<(spent: SharedSecret, successor: SharedSecret)?>(nil)

    /// The session's token, or what has taken its place.
    func current(_ token: SharedSecret) -> SharedSecret {
        state.withLock { $0.flatMap { $0.spent.matches(token) ? $0.successor : nil } } ?? token
    }

    func replace(_ token: SharedSecret, by successor: SharedSecret?) {
        guard let successor else { return }
        state.withLock { $0 = (token, successor) }
    }

    /// The server has heard that the user has signed out.
    func forget() {
        state.withLock { $0 = nil }
    }
}
