import JunctionSession
import JunctionVault
import Testing

@testable import JunctionDaemon

/// Which bootstrap credential the daemon tries, and when.
struct BootstrapCredentialsTests {
    private typealias State = BootstrapCredential.State

    private static let now = WallTime(milliseconds: 1_795_219_200_000)
    private static let busy = BootstrapCredential.Attempts(failure: "Busy")

    private static func token(_ state: State = .new, digest: String = "token") -> BootstrapCredential {
        BootstrapCredential(name: "signInToken", digest: digest, state: state)
    }

    private static func code(_ state: State = .new, digest: String = "code") -> BootstrapCredential {
        BootstrapCredential(name: "linkCode", digest: digest, state: state)
    }

    private static func session(_ state: SessionState, _ status: StorageStatus = .ok) -> Snapshot.Facts {
        let storage = StorageReport(sealedWith: "file", status: status, isReadable: status == .ok)
        return Snapshot.Facts(state: state, provider: "junction", storage: storage)
    }

    /// Returns the credentials after these were found and the first one was looked up, and the credential that is
    /// tried.
    private static func trying(_ found: BootstrapCredential...) -> (BootstrapCredentials, BootstrapCredential) {
        var credentials = BootstrapCredentials()
        guard case .lookUp(let first)? = credentials.found(found).first,
            case .begin(let trying)? = credentials.lookedUp(
                first,
                .success(nil),
                beside: session(.notLoggedIn),
                now: now
            ).first
        else { preconditionFailure("a credential is tried when no user is signed in") }
        return (credentials, trying)
    }

    // MARK: One at a time

    @Test func `the next credential is looked up only when the one before it is done`() {
        var (credentials, token) = Self.trying(Self.token(), Self.code())
        #expect(credentials.found([]) == [])
        #expect(credentials.begun(token) == [.signIn(token)])
        #expect(credentials.found([]) == [])

        let done = Self.token(.done(.signedIn(userId: "alice")))
        #expect(credentials.signedIn(token, as: "alice") == [.report(done, storing: .done), .scan])
        #expect(credentials.found([]) == [.lookUp(Self.code(.lookedUp))])
        #expect(credentials.all == [done, Self.code(.lookedUp)])
    }

    @Test func `a replaced credential counts as new, unless the provider is being asked about the old one`() {
        let other = Self.token(digest: "other")
        var (credentials, token) = Self.trying(Self.token())
        #expect(credentials.found([other]) == [])
        #expect(credentials.all == [token])

        _ = credentials.refused(token, SessionError(.providerUnavailable, "Busy"), now: Self.now)
        #expect(credentials.found([Self.token()]) == [])
        #expect(credentials.all == [Self.token(.waiting(Self.busy))])

        #expect(credentials.found([other]) == [.lookUp(Self.token(.lookedUp, digest: "other"))])
        #expect(credentials.pauseEnded(Self.token(.waiting(Self.busy)), Retry(), beside: .notLoggedIn) == [])
    }

    @Test func `a removed credential is stored as unspent and counts as new when it comes back`() {
        var (credentials, token) = Self.trying(Self.token())

        let gone = Self.token(.done(.unused("it is not in its place any more")))
        #expect(credentials.gone(token) == [.report(gone, storing: .unspent()), .scan])

        #expect(credentials.all == [])
        #expect(credentials.found([Self.token()]) == [.lookUp(Self.token(.lookedUp))])
    }

    @Test func `a credential that is held back is looked up again when no user is signed in`() {
        var (credentials, token) = Self.trying(Self.token())
        _ = credentials.refused(token, SessionError(.alreadySignedIn, "Bob is signed in"), now: Self.now)
        #expect(credentials.found([Self.token()]) == [])

        #expect(credentials.sessionEnded() == [.scan])
        #expect(credentials.found([Self.token()]) == [.lookUp(Self.token(.lookedUp))])
        #expect(credentials.sessionEnded() == [])
    }

    @Test func `a credential that is set aside is looked up again after a reload`() {
        var (credentials, token) = Self.trying(Self.token())
        _ = credentials.refused(token, SessionError(.unsupported, "No such scheme"), now: Self.now)
        #expect(credentials.sessionEnded() == [])
        #expect(credentials.found([Self.token()]) == [])

        #expect(credentials.reloaded() == [.scan])
        #expect(credentials.found([Self.token()]) == [.lookUp(Self.token(.lookedUp))])
    }

    // MARK: Whether it is tried

    private static let fault = FileFault("read", "used-credentials", code: 5)
    private static let later = now + .seconds(60)

    @Test(
        arguments: [
            (.success(nil), session(.notLoggedIn), .trying(.init()), nil),
            (.success(.begun), session(.terminated), .trying(.init()), nil),
            (.success(.unspent()), session(.notLoggedIn), .trying(.init()), nil),
            (.success(.unspent(notBefore: now)), session(.notLoggedIn), .trying(.init()), nil),
            (.success(.unspent(notBefore: later)), session(.notLoggedIn), .waiting(.init()), nil),
            (.success(.done), session(.notLoggedIn), .done(.unused("it was used before")), nil),
            (.success(nil), session(.established), .heldBack, nil),
            (.success(.unspent()), session(.tokenExpired), .heldBack, nil),
            (.success(.begun), session(.established), .done(.unused("somebody is signed in")), .done),
            (.success(.begun), session(.tokenExpired), .done(.unused("somebody is signed in")), .done),
            (.success(.begun), session(.establishing), .heldBack, nil),
            (
                .success(nil), session(.notLoggedIn, .locked),
                .setAside(.unused("the stored session cannot be read")), nil
            ),
            (.success(.done), session(.notLoggedIn, .locked), .done(.unused("it was used before")), nil),
            (.failure(fault), session(.notLoggedIn), .setAside(.unknown(fault.description)), nil),
        ] as [(Vault.Stage, Snapshot.Facts, BootstrapCredential.State, UsedCredentials.Stage?)]
    )
    func `the stored stage and the session decide whether a credential is tried`(
        stored: Vault.Stage,
        session: Snapshot.Facts,
        state: BootstrapCredential.State,
        storing: UsedCredentials.Stage?
    ) {
        var credentials = BootstrapCredentials()
        _ = credentials.found([Self.token()])

        let actions = credentials.lookedUp(Self.token(.lookedUp), stored, beside: session, now: Self.now)

        let moved = Self.token(state)
        #expect(credentials.all == [moved])
        switch state {
        case .trying: #expect(actions == [.begin(moved)])
        case .waiting: #expect(actions == [.wait(moved, Retry(), retryAfter: .seconds(60))])
        default: #expect(actions == [.report(moved, storing: storing), .scan])
        }
    }

    // MARK: What comes of an attempt

    @Test(
        arguments: SessionError.Kind.allCases.map { kind in
            let message = "Refused"
            return switch kind {
            case .alreadySignedIn: (kind, .heldBack, .unspent())
            case .unsupported, .storageUnavailable: (kind, .setAside(.refused(message)), .unspent())
            case .providerUnavailable, .misconfigured, .busy:
                (kind, .waiting(.init(failure: message)), .unspent(notBefore: later))
            default: (kind, .done(.refused(message)), .done)
            }
        } as [(SessionError.Kind, BootstrapCredential.State, UsedCredentials.Stage)]
    )
    func `the kind of the error decides the next state of the credential`(
        kind: SessionError.Kind,
        state: BootstrapCredential.State,
        storing: UsedCredentials.Stage
    ) {
        var (credentials, token) = Self.trying(Self.token())

        let refusal = SessionError(kind, "Refused", retryAfter: .seconds(60))
        let actions = credentials.refused(token, refusal, now: Self.now)

        let moved = Self.token(state)
        var expected: [BootstrapCredentials.Action] = [.report(moved, storing: storing), .scan]
        if case .waiting = state { expected.insert(.wait(moved, Retry(), retryAfter: .seconds(60)), at: 1) }
        #expect(actions == expected)
        #expect(credentials.all == [moved])
    }

    @Test(arguments: [SessionState.notLoggedIn, .terminated, .establishing, .established, .tokenExpired])
    func `after the pause the credential is tried again, unless a user is signed in`(session: SessionState) {
        var (credentials, token) = Self.trying(Self.token())
        _ = credentials.refused(token, SessionError(.busy, "Busy"), now: Self.now)

        let waiting = Self.token(.waiting(Self.busy))
        let actions = credentials.pauseEnded(waiting, Retry(), beside: session)

        switch session {
        case .notLoggedIn, .terminated: #expect(actions == [.begin(Self.token(.trying(Self.busy)))])
        case .establishing, .established, .tokenExpired:
            #expect(actions == [.report(Self.token(.heldBack), storing: nil), .scan])
        }
        #expect(credentials.pauseEnded(waiting, Retry(), beside: session) == [], "a pause ends once")
    }

    // MARK: Sign-out

    @Test func `a sign-out ends all known and present credentials that might still sign in`() {
        var (credentials, token) = Self.trying(Self.token(), Self.code())
        _ = credentials.refused(token, SessionError(.invalidCredential, "Expired"), now: Self.now)
        let refused = Self.token(.done(.refused("Expired")))
        _ = credentials.found([])
        let fresh = Self.code(digest: "fresh")

        let actions = credentials.signedOut(inPlace: [Self.token(), fresh])

        let ended = [Self.code(.done(.signOut)), Self.code(.done(.signOut), digest: "fresh")]
        #expect(actions == ended.map { .report($0, storing: .done) })
        #expect(credentials.all == [refused, ended[1]])
        #expect(credentials.found([Self.token(), fresh]) == [])
        #expect(credentials.signedOut(inPlace: [Self.token(), fresh]) == [])
    }

    @Test func `after a sign-out answers start no further action, and a success is still stored`() {
        var (credentials, token) = Self.trying(Self.token())
        _ = credentials.signedOut(inPlace: [Self.token()])

        #expect(credentials.begun(token) == [])
        #expect(credentials.refused(token, SessionError(.busy, "Busy"), now: Self.now) == [])
        #expect(credentials.gone(token) == [])
        let success = Self.token(.done(.signedIn(userId: "alice")))
        #expect(credentials.signedIn(token, as: "alice") == [.report(success, storing: .done), .scan])
        #expect(credentials.all == [Self.token(.done(.signOut))])
    }
}
