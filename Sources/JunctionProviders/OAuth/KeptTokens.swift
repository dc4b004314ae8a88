import JunctionSecret
import JunctionSession
import Synchronization

/// What a server has granted for a credential and a sign-in cannot use yet: what a person has approved must not be lost to a
/// trouble that passes.
enum KeptGrant: Sendable {
    /// It is not known yet whose they are: that may be told by a second request.
    case tokens(OAuthTokens)
    /// No access token that can be used came with it. The next try goes on with this.
    case refreshToken(SharedSecret, EndpointOrigins?)

    var revocation: Revocable {
        switch self {
        case .tokens(let tokens): tokens.revocation
        case .refreshToken(let token, let origins): Revocable(refreshToken: token, origins: origins)
        }
    }
}

/// The grants that wait for a next try of their credential, until somebody signs out. Only a few are kept, and not for long.
final class KeptTokens: Sendable {
    typealias Era = Undecided<KeptGrant>.Era

    private let state = Mutex(State())

    private struct State {
        var kept = Undecided<KeptGrant>()
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

    /// Keeps it for this credential's next try.
    ///
    /// - Returns: what there is no room for: the eldest, or this one where there was a sign-out since.
    func keep(_ grant: KeptGrant, of credential: SharedSecret, at now: Moment, since era: Era) -> [Revocable] {
        state.withLock { state in
            guard state.kept.keep(grant, of: credential, at: now, since: era) else { return [grant.revocation] }
            return state.kept.dropEldest(beyond: Self.most).map(\.revocation)
        }
    }

    /// What this credential brought earlier.
    func grant(of credential: SharedSecret) -> KeptGrant? { state.withLock { $0.kept.brought(by: credential) } }

    /// It is decided whose they are.
    func forget(_ credential: SharedSecret) { state.withLock { $0.kept.forget(credential) } }

    /// Lets go of those that are too old: nobody will ask for them again.
    func expire(_ now: Moment) -> [Revocable] {
        state.withLock { $0.kept.expire { now.uptime - $1 > time }.map(\.revocation) }
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
    func signedOut() -> [Revocable] { state.withLock { $0.kept.signedOut().map(\.revocation) } }
}
