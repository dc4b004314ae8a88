import JunctionSecret
import JunctionSession
import Synchronization

import struct Crypto.SHA256
import struct Crypto.SHA256Digest

/// Tokens that a server has granted for a credential, until it is known whose they are, or somebody signs out.
///
/// A code is good once, and whom it was for may be told by a second request: a trouble that passes between the two would
/// otherwise lose what a person has approved. Only a few are kept, and not for long; the credential itself is not.
final class KeptTokens: Sendable {
    private let state = Mutex(State())

    private struct State {
        /// In the order of their last tries.
        var kept: [Kept] = []
        var isWatched = false
        var era = Era(number: 0)
    }

    private struct Kept {
        var credential: SHA256Digest
        var tokens: OAuthTokens
        var since: Uptime
    }

    /// The time between two sign-outs.
    struct Era: Equatable {
        fileprivate var number: UInt64
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
    var era: Era { state.withLock { $0.era } }

    /// Keeps them for this credential's next try.
    ///
    /// - Returns: tokens that there is no room for: the eldest, or these ones where there was a sign-out since.
    func keep(_ tokens: OAuthTokens, of credential: SharedSecret, at now: Moment, since era: Era) -> [OAuthTokens] {
        let digest = Self.digest(credential)
        return state.withLock { state in
            guard state.era == era else { return [tokens] }
            state.kept.removeAll { $0.credential == digest }
            state.kept.append(Kept(credential: digest, tokens: tokens, since: now.uptime))
            let surplus = state.kept.dropLast(Self.most).map(\.tokens)
            state.kept.removeFirst(surplus.count)
            return surplus
        }
    }

    /// What this credential brought earlier.
    func tokens(of credential: SharedSecret) -> OAuthTokens? {
        let digest = Self.digest(credential)
        return state.withLock { $0.kept.first { $0.credential == digest }?.tokens }
    }

    /// It is decided whose they are.
    func forget(_ credential: SharedSecret) {
        let digest = Self.digest(credential)
        state.withLock { $0.kept.removeAll { $0.credential == digest } }
    }

    /// Lets go of those that are too old: nobody will ask for them again.
    func expire(_ now: Moment) -> [OAuthTokens] {
        state.withLock { state in
            let old = state.kept.filter { now.uptime - $0.since > time }.map(\.tokens)
            state.kept.removeFirst(old.count)
            return old
        }
    }

    /// Somebody has to look again when their time is over, unless somebody does already.
    func watch() -> Bool {
        state.withLock { state in
            guard !state.kept.isEmpty, !state.isWatched else { return false }
            state.isWatched = true
            return true
        }
    }

    func watched() { state.withLock { $0.isWatched = false } }

    /// Somebody signs out: what is under way is not kept, either.
    func signedOut() -> [OAuthTokens] {
        state.withLock { state in
            defer { (state.kept, state.era.number) = ([], state.era.number + 1) }
            return state.kept.map(\.tokens)
        }
    }

    private static func digest(_ credential: SharedSecret) -> SHA256Digest {
        var hash = SHA256()
        credential.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return hash.finalize()
    }
}
