import Glibc
import JunctionSession
import JunctionVault
import Logging
import NIOCore
import Synchronization

/// Signs in with a credential that the service manager passed to the service, on a device that nobody sits at.
///
/// It happens when nobody is signed in, once; the same credential never signs in again, not after a sign-out, nor after a
/// restart. A device that is offline goes on trying until the provider has answered; when to try again is the session's to
/// say. A sign-out ends whatever is in place by then: looked up, tried, waiting or set aside. A credential that is of no use
/// waits for another one in its place.
///
/// Everything happens on the event loop.
final class Provisioning: Sendable {
    private let folder: String
    private let owner: SessionOwner
    private let vault: Vault
    private let loop: any EventLoop
    private let logger: Logger
    private let state: Mutex<State>

    private struct State {
        /// The credential that is known: the one in place, or an older one that is not decided yet.
        var credential: PassedCredential
        var progress = Progress.undecided
        var situation = Situation.unused("nobody has looked at it yet")
        /// Counts what was decided, so that what comes of an earlier one changes nothing.
        var attempt = 0
        var watch: CredentialWatch?
    }

    /// How far it has come with the credential that is known.
    private enum Progress {
        /// It is looked up, or set aside: it may sign in yet.
        case undecided
        /// It is on its way to the provider, or there.
        case trying
        /// It waits for its next try.
        case waiting
        /// It signs nobody in any more.
        case decided
    }

    enum Situation: Equatable {
        /// It is not used, and why.
        case unused(String)
        /// It signs nobody in, and why.
        case useless(String)
        /// It is being tried, or waits for its next try, after this trouble.
        case tried(String?)
        case hasSignedIn
    }

    /// Nothing, when the service manager has passed no credential to sign in with.
    init?(folder: String?, owner: SessionOwner, vault: Vault, loop: any EventLoop, logger: Logger) {
        guard let folder, let credential = PassedCredential.found(in: folder) else { return nil }
        self.folder = folder
        self.owner = owner
        self.vault = vault
        self.loop = loop
        self.logger = logger
        state = Mutex(State(credential: credential))
    }

    // MARK: Whether

    /// What is being done about a credential, which may be overtaken.
    struct Attempt: Sendable {
        fileprivate let credential: PassedCredential
        fileprivate let number: Int
    }

    /// Decides whether the credential is to be used, while nobody is served yet who could change what that depends on; a
    /// sign-out ends it from now on.
    ///
    /// - Returns: with what to `begin`.
    func attempt(_ facts: Snapshot.Facts) throws -> Attempt? {
        let credential = state.withLock { $0.credential }
        let stage = vault.stage(of: digest(of: credential))
        return try loop.submit { [self] in
            owner.assumeIsolated { $0.lookBeforeSignOut { [self] in look() } }
            let attempt = know(credential)
            return isCalledFor(attempt, stage, facts) ? announce(attempt) : nil
        }.wait()
    }

    /// Tries the credential, if it is called for, and looks at every other that is put in its place.
    func begin(_ attempt: Attempt?) {
        loop.execute { [self] in
            if let attempt { make(attempt) }
            do {
                let watch = try CredentialWatch(of: folder, on: loop) { [self] in look() }
                state.withLock { $0.watch = watch }
            } catch {
                logger.warning("A new credential is found after a restart only: \(error)")
            }
            look()
        }
    }

    /// Looks whether there is another credential than the one that is known. One that is at the provider is decided first.
    func look() {
        guard let found = PassedCredential.found(in: folder) else { return }
        let (known, isTrying) = state.withLock { ($0.credential, $0.progress == .trying) }
        if !isTrying, !isSame(found, known) { consider(found) }
    }

    /// Decides whether it is to be used, as soon as it is known what is noted of it; a sign-out ends it from now on.
    private func consider(_ credential: PassedCredential) {
        let attempt = know(credential)
        vault.stage(of: digest(of: credential)) { [self] stage in
            loop.execute { [self] in
                guard isCurrent(attempt) else { return }
                let facts = owner.assumeIsolated { $0.snapshot.facts }
                if isCalledFor(attempt, stage, facts) { make(announce(attempt)) }
            }
        }
    }

    /// From here on a sign-out ends it.
    private func know(_ credential: PassedCredential) -> Attempt {
        let number = state.withLock { state in
            state.attempt += 1
            state.credential = credential
            state.progress = .undecided
            state.situation = .unused("nobody has looked at it yet")
            return state.attempt
        }
        let attempt = Attempt(credential: credential, number: number)
        keep(attempt)
        return attempt
    }

    /// It is not being tried, and a sign-out ends it.
    private func keep(_ attempt: Attempt) {
        owner.assumeIsolated { owner in
            owner.enrolmentKnown { [self] news in
                switch news {
                case .tryAgain: tryAgain(attempt)
                case .signedOut: overtaken(attempt.credential)
                }
            }
        }
    }

    private func isCalledFor(_ attempt: Attempt, _ stage: UsedCredentials.Stage?, _ facts: Snapshot.Facts) -> Bool {
        guard stage != .done else {
            end(leave(attempt, "it was used before"))
            return false
        }
        guard facts.storage.status == .ok else {
            _ = leave(attempt, "the stored session cannot be read")
            return false
        }
        switch facts.state {
        case .notLoggedIn, .terminated:
            return true
        case .established where stage == .begun, .tokenExpired where stage == .begun:
            // After a crash in the middle: it was this credential that signed the user in.
            note(.done, of: attempt.credential)
            end(leave(attempt, "somebody is signed in"))
        case .established, .tokenExpired, .establishing:
            _ = leave(attempt, "somebody is signed in, or about to be")
            owner.assumeIsolated { $0.enrolmentHeldBack() }
        }
        return false
    }

    private func leave(_ attempt: Attempt, _ reason: String) -> Situation {
        let situation = Situation.unused(reason)
        state.withLock { $0.situation = situation }
        logger.info("The credential \(attempt.credential.name) is not used: \(reason)")
        return situation
    }

    // MARK: Trying

    private func announce(_ attempt: Attempt) -> Attempt {
        state.withLock { ($0.progress, $0.situation) = (.trying, .tried(nil)) }
        owner.assumeIsolated { $0.enrolmentBegan() }
        return attempt
    }

    /// Signs in, as soon as it is noted that this was tried.
    private func make(_ attempt: Attempt) {
        guard isCurrent(attempt) else { return }
        note(.begun, of: attempt.credential) { [self] in
            loop.execute { [self] in
                if isCurrent(attempt) { signIn(attempt) }
            }
        }
    }

    private func isCurrent(_ attempt: Attempt) -> Bool { state.withLock { $0.attempt == attempt.number } }

    private func signIn(_ attempt: Attempt) {
        owner.assumeIsolated { owner in
            owner.signIn(attempt.credential.value, by: getuid()) { [self] outcome in
                switch outcome {
                case .success(let snapshot): succeeded(attempt, snapshot)
                case .failure(let refusal): if isCurrent(attempt) { failed(attempt, refusal) }
                }
            }
        }
    }

    /// It is time for its next try, or it was held back and nobody is signed in any more.
    private func tryAgain(_ attempt: Attempt) {
        guard isCurrent(attempt) else { return }
        guard state.withLock({ $0.progress == .waiting }) else { return consider(attempt.credential) }
        switch owner.assumeIsolated({ $0.snapshot.facts.state }) {
        case .notLoggedIn, .terminated:
            state.withLock { $0.progress = .trying }
            signIn(attempt)
        case .establishing:
            // Whoever is just signing in may fail yet.
            owner.assumeIsolated { $0.enrolmentFailed(retryAfter: nil) }
        case .established, .tokenExpired:
            note(.done, of: attempt.credential)
            end(.unused("somebody is signed in"))
            look()
        }
    }

    private func succeeded(_ attempt: Attempt, _ snapshot: Snapshot) {
        let credential = attempt.credential
        note(.done, of: credential) { [logger] in
            logger.notice(
                "Signed in with the credential \(credential.name)",
                metadata: .of(.signedIn, [.userId: "\(snapshot.facts.userId ?? "unknown")"])
            )
        }
        guard isCurrent(attempt) else { return }
        end(.hasSignedIn)
        look()
    }

    private func failed(_ attempt: Attempt, _ refusal: Refusal) {
        let credential = attempt.credential
        switch refusal.kind {
        case .providerUnavailable, .busy:
            state.withLock { ($0.progress, $0.situation) = (.waiting, .tried(refusal.message)) }
            logger.warning(
                "The credential \(credential.name) could not be exchanged yet; it is tried again",
                metadata: .of(nil, [.error: "\(refusal.message)"])
            )
            owner.assumeIsolated { $0.enrolmentFailed(retryAfter: refusal.retryAfter) }
        case .unsupported, .storageUnavailable:
            // It was not even looked at, and may be good after a change of the configuration.
            state.withLock { ($0.progress, $0.situation) = (.undecided, .useless(refusal.message)) }
            keep(attempt)
            logger.error(
                "The credential \(credential.name) cannot be used here",
                metadata: .of(nil, [.error: "\(refusal.message)"])
            )
        case .alreadySignedIn, .invalidCredential, .notSignedIn, .reauthenticationRequired, .sessionTerminated,
            .permissionDenied, .incompatibleCredential, .tokenExpired, .invalidParameters:
            note(.done, of: credential) { [logger] in
                logger.error(
                    "The credential \(credential.name) signs nobody in, and is not tried again: pass a new one",
                    metadata: .of(nil, [.error: "\(refusal.message)"])
                )
            }
            end(.useless(refusal.message))
        }
        // Another one may have come while this was at the provider.
        look()
    }

    /// There was a sign-out, which is written when this has been: it ends what was in place, too.
    private func overtaken(_ credential: PassedCredential) {
        let found = PassedCredential.found(in: folder) ?? credential
        state.withLock { state in
            state.attempt += 1
            state.credential = found
            state.progress = .decided
            state.situation = .unused("there was a sign-out")
        }
        note(.done, of: credential)
        if !isSame(found, credential) { note(.done, of: found) }
        logger.notice("The credential \(credential.name) is not used any more: there was a sign-out")
    }

    private func end(_ situation: Situation) {
        state.withLock { state in
            state.attempt += 1
            state.progress = .decided
            state.situation = situation
        }
        owner.assumeIsolated { $0.enrolmentEnded() }
    }

    private func isSame(_ one: PassedCredential, _ other: PassedCredential) -> Bool {
        digest(of: one) == digest(of: other)
    }

    // MARK: What is noted

    private func digest(of credential: PassedCredential) -> String {
        UsedCredentials.digest(of: credential.secret, installation: vault.installationId ?? "")
    }

    /// In the order of these calls and of everything else that is written: a sign-out that follows finds it on disk.
    ///
    /// - Parameter then: called once it is there, or the disk has refused it: what is said to be so is so after a crash.
    private func note(
        _ stage: UsedCredentials.Stage,
        of credential: PassedCredential,
        then: @escaping @Sendable () -> Void = {}
    ) {
        vault.note(stage, of: digest(of: credential)) { [logger] isStored in
            if !isStored {
                logger.error(
                    """
                    That the credential \(credential.name) was used could not be written, and is tried again with the \
                    next record: make room on the disk, or remove it from the unit
                    """
                )
            }
            then()
        }
    }

    // MARK: For doctor

    var finding: ProbeFinding {
        let (name, situation) = state.withLock { ($0.credential.name, $0.situation) }
        let remedy = "Pass a new one: it is tried as soon as it is in the place of the old one, or after a restart"
        return switch situation {
        case .unused(let reason):
            ProbeFinding(name: "provisioning", verdict: .ok, detail: "The credential \(name) is not used: \(reason).")
        case .hasSignedIn:
            ProbeFinding(name: "provisioning", verdict: .ok, detail: "The credential \(name) has signed a user in.")
        case .tried(let trouble):
            ProbeFinding(
                name: "provisioning",
                verdict: .note,
                detail: "The credential \(name) is being tried" + (trouble.map { "; last: \($0)" } ?? ".")
            )
        case .useless(let reason):
            ProbeFinding(
                name: "provisioning",
                verdict: .problem,
                detail: "The credential \(name) signs nobody in: \(reason)",
                remedy: remedy
            )
        }
    }
}
