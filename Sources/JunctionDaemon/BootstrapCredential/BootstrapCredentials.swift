import JunctionSession
import JunctionVault

/// A credential with which the daemon signs in without a user, for example on an unattended device. The service manager
/// passes it in a file. The secret stays in that file: the daemon knows the credential by its digest.
struct BootstrapCredential: Equatable, Sendable {
    let name: String
    let digest: String
    var state = State.new

    enum State: Equatable, Sendable {
        /// The daemon has not looked the credential up.
        case new
        /// The daemon reads what is stored about the credential.
        case lookedUp
        /// The daemon sends the credential to the provider, or is about to.
        case trying(Attempts)
        /// The credential waits for its next attempt.
        case waiting(Attempts)
        /// A user is signed in. The daemon looks the credential up again when no user is.
        case heldBack
        /// The credential cannot be used now. The daemon looks it up again after a reload.
        case setAside(Reason)
        /// The daemon never signs in with the credential again.
        case done(Reason)
    }

    /// The state of the attempts so far.
    struct Attempts: Equatable, Sendable {
        var retry = Retry()
        var failure: String?
    }

    enum Reason: Equatable, Sendable {
        case signedIn(userId: String?)
        case signOut
        case unused(String)
        case refused(String)
        /// The daemon cannot know whether the credential was used before.
        case unknown(String)
    }

    fileprivate var isActive: Bool {
        switch state {
        case .lookedUp, .trying, .waiting: true
        case .new, .heldBack, .setAside, .done: false
        }
    }

    fileprivate var isDone: Bool { if case .done = state { true } else { false } }
}

/// Decides which bootstrap credential the daemon tries, and when: events in, actions out.
///
/// The daemon tries one credential at a time, in the order in which it found them, while no user is signed in. If a
/// credential cannot be used, the daemon tries the next one. A sign-out ends every credential that is in place.
///
/// The machine ignores the answer to an action if the credential has changed its state since.
struct BootstrapCredentials {
    private(set) var all: [BootstrapCredential] = []

    enum Action: Equatable, Sendable {
        /// Look for credentials, and answer with `found`.
        case scan
        /// Read what is stored about the credential, and answer with `lookedUp`.
        case lookUp(BootstrapCredential)
        /// Store that an exchange begins, and answer with `begun`.
        case begin(BootstrapCredential)
        /// Sign in, and answer with `signedIn` or `refused`. Answer with `gone` if the file of the credential has been
        /// removed or replaced.
        case signIn(BootstrapCredential)
        /// Wait for the next attempt, and answer with `pauseEnded`.
        case wait(BootstrapCredential, Retry, retryAfter: Duration?)
        /// Store the stage, if there is one, and then log the state of the credential.
        case report(BootstrapCredential, storing: UsedCredentials.Stage?)
    }

    // MARK: Which credential is tried

    /// Takes the credentials that are in place. A new credential replaces another one of the same name, unless the
    /// provider is being asked about that one.
    mutating func found(_ credentials: [BootstrapCredential]) -> [Action] {
        for new in credentials {
            guard let index = all.firstIndex(where: { $0.name == new.name }) else {
                all.append(new)
                continue
            }
            if case .trying = all[index].state { continue }
            if all[index].digest != new.digest { all[index] = new }
        }
        guard !all.contains(where: \.isActive), let next = all.first(where: { $0.state == .new }) else { return [] }
        return [.lookUp(move(next, to: .lookedUp))]
    }

    /// Handles a reload, after which the configuration or the passed credentials may be different.
    mutating func reloaded() -> [Action] {
        renew { if case .setAside = $0 { true } else { false } }
        return [.scan]
    }

    /// Handles the end of the session: no user is signed in, and no sign-in is under way.
    mutating func sessionEnded() -> [Action] {
        renew { $0 == .heldBack } ? [.scan] : []
    }

    /// Handles the beginning of a sign-out: no credential that is in place or known signs in after it.
    mutating func signedOut(inPlace: [BootstrapCredential]) -> [Action] {
        let new = inPlace.filter { one in !all.contains { $0.digest == one.digest } }
        let ended = all.filter { !$0.isDone } + new
        all = all.filter { known in !new.contains { $0.name == known.name } } + new
        return ended.map { .report(move($0, to: .done(.signOut)), storing: .done) }
    }

    // MARK: Attempts

    mutating func lookedUp(
        _ credential: BootstrapCredential,
        _ stored: Vault.Stage,
        beside session: Snapshot.Facts,
        now: WallTime
    ) -> [Action] {
        guard all.contains(credential) else { return [] }
        let stage: UsedCredentials.Stage?
        switch stored {
        case .success(let found): stage = found
        case .failure(let fault): return finish(credential, .setAside(.unknown(fault.description)))
        }
        if stage == .done { return finish(credential, .done(.unused("it was used before"))) }
        guard session.storage.isReadable else {
            return finish(credential, .setAside(.unused("the stored session cannot be read")))
        }
        switch session.state {
        case .notLoggedIn, .terminated:
            // An earlier process may have stored the pause that the provider demands.
            guard let end = stage?.notBefore, end > now else {
                return [.begin(move(credential, to: .trying(.init())))]
            }
            return [.wait(move(credential, to: .waiting(.init())), Retry(), retryAfter: end - now)]
        case .established where stage == .begun, .tokenExpired where stage == .begun:
            // The process crashed after this credential had signed the user in.
            return finish(credential, .done(.unused("somebody is signed in")), storing: .done)
        case .established, .tokenExpired, .establishing: return finish(credential, .heldBack)
        }
    }

    mutating func begun(_ credential: BootstrapCredential) -> [Action] {
        all.contains(credential) ? [.signIn(credential)] : []
    }

    /// Handles a credential that was removed or replaced before it was sent.
    mutating func gone(_ credential: BootstrapCredential) -> [Action] {
        guard all.contains(credential) else { return [] }
        let actions = finish(credential, .done(.unused("it is not in its place any more")), storing: .unspent())
        all.removeAll { $0.name == credential.name && $0.digest == credential.digest }
        return actions
    }

    /// Handles a sign-in by the credential. The stage is stored even if a sign-out came first.
    mutating func signedIn(_ credential: BootstrapCredential, as userId: String?) -> [Action] {
        finish(credential, .done(.signedIn(userId: userId)), storing: .done)
    }

    mutating func refused(_ credential: BootstrapCredential, _ refusal: SessionError, now: WallTime) -> [Action] {
        guard all.contains(credential), case .trying(var attempts) = credential.state else { return [] }
        switch refusal.kind {
        case .providerUnavailable, .misconfigured, .busy:
            attempts.failure = refusal.message
            let notBefore = refusal.retryAfter.map { now + $0 }
            let waiting = move(credential, to: .waiting(attempts))
            return [
                .report(waiting, storing: .unspent(notBefore: notBefore)),
                .wait(waiting, attempts.retry, retryAfter: refusal.retryAfter),
                .scan,
            ]
        case .alreadySignedIn:
            // Another sign-in came first, so this credential was not sent.
            return finish(credential, .heldBack, storing: .unspent())
        case .unsupported, .storageUnavailable:
            // The credential was not sent, and a change of the configuration may allow it.
            return finish(credential, .setAside(.refused(refusal.message)), storing: .unspent())
        case .invalidCredential, .notSignedIn, .reauthenticationRequired, .sessionTerminated, .permissionDenied,
            .incompatibleCredential, .tokenExpired, .invalidParameters:
            return finish(credential, .done(.refused(refusal.message)), storing: .done)
        }
    }

    mutating func pauseEnded(_ credential: BootstrapCredential, _ retry: Retry, beside state: SessionState) -> [Action]
    {
        guard all.contains(credential), case .waiting(var attempts) = credential.state else { return [] }
        attempts.retry = retry
        return switch state {
        case .notLoggedIn, .terminated: [.begin(move(credential, to: .trying(attempts)))]
        case .establishing, .established, .tokenExpired: finish(credential, .heldBack)
        }
    }

    // MARK: States

    /// - Returns: whether a credential is in such a state.
    @discardableResult
    private mutating func renew(_ isMeant: (BootstrapCredential.State) -> Bool) -> Bool {
        let indices = all.indices.filter { isMeant(all[$0].state) }
        for index in indices { all[index].state = .new }
        return !indices.isEmpty
    }

    /// Moves the credential to a state in which it is not active, so that the next credential can begin.
    private mutating func finish(
        _ credential: BootstrapCredential,
        _ state: BootstrapCredential.State,
        storing stage: UsedCredentials.Stage? = nil
    ) -> [Action] {
        [.report(move(credential, to: state), storing: stage), .scan]
    }

    private mutating func move(
        _ credential: BootstrapCredential,
        to state: BootstrapCredential.State
    ) -> BootstrapCredential {
        let index = all.firstIndex(of: credential)
        var credential = credential
        credential.state = state
        if let index { all[index] = credential }
        return credential
    }
}
