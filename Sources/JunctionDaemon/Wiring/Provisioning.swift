import Glibc
import JunctionSession
import JunctionVault
import Logging
import NIOCore
import Synchronization

/// Signs in with a credential that the service manager passed to the service, on a device that nobody sits at.
///
/// It happens when nobody is signed in, once; the same credential never signs in again, not after a sign-out, nor after a
/// restart, and not while it cannot be known whether it did. A device that is offline goes on trying until the provider has
/// answered; when to try again is the session's to say. A sign-out ends whatever is in place by then: looked up, tried, waiting
/// or set aside. A credential that is of no use makes way for the next one, or waits for another one in its place.
///
/// Everything happens on the event loop.
final class Provisioning: Sendable {
    typealias Attempt = Candidates.Attempt

    private let folder: String
    private let owner: SessionOwner
    private let vault: Vault
    private let loop: any EventLoop
    private let logger: Logger
    private let state = Mutex(State())

    private struct State {
        var candidates = Candidates()
        /// What earlier attempts of the credential under way came to.
        var retry = Retry()
        /// Until when the provider asked an earlier process to wait (`Retry-After`).
        var notBefore: WallTime?
        var watch: FolderWatch?
    }

    /// Nothing, when the service manager has passed no credential to sign in with. It is made on the loop: the thread that
    /// starts the daemon sleeps from then on, and whatever a secret leaves in its registers and on its stack would stay. The
    /// loop's are used again.
    init?(folder: String?, owner: SessionOwner, vault: Vault, loop: any EventLoop, logger: Logger) {
        guard let folder else { return nil }
        self.folder = folder
        self.owner = owner
        self.vault = vault
        self.loop = loop
        self.logger = logger
        loop.preconditionInEventLoop()
        let found = inPlace
        guard !found.isEmpty else { return nil }
        state.withLock { $0.candidates.take(found) }
    }

    var candidates: [Candidates.Candidate] { state.withLock { $0.candidates.all } }

    // MARK: Whether

    /// Decides whether a credential is to be used, while nobody is served yet who could change what that depends on; a
    /// sign-out ends them all from now on.
    ///
    /// - Returns: with what to `begin`.
    func attempt(_ facts: Snapshot.Facts) throws -> Attempt? {
        let stages = candidates.map { ($0.digest, vault.stage(of: $0.digest)) }
        return try loop.submit { [self] in
            owner.assumeIsolated { owner in
                owner.beforeSignOut { [self] in overtaken() }
                owner.watch { [self] snapshot in lookAgain(beside: snapshot.facts.state) }
            }
            while let attempt = next() {
                let stage = stages.first { $0.0 == attempt.digest }?.1 ?? .success(nil)
                if isCalledFor(attempt, stage, facts) { return announce(attempt) }
            }
            return nil
        }.wait()
    }

    /// Tries the credential, if one is called for, and looks at every other that is put in place.
    func begin(_ attempt: Attempt?) {
        loop.execute { [self] in
            if let attempt { make(attempt) }
            do {
                let watch = try FolderWatch(of: [folder], on: loop) { [self] in look() }
                state.withLock { $0.watch = watch }
            } catch {
                logger.warning("A new credential is found after a restart only: \(error)")
            }
            look()
        }
    }

    /// Looks whether there are other credentials than those that are known. One that is at the provider is decided first.
    func look() {
        let found = inPlace
        state.withLock { $0.candidates.take(found) }
        goOn()
    }

    /// The same, and looks again at those that could not be used.
    func lookAgain() {
        _ = state.withLock { $0.candidates.renew(.setAside) }
        look()
    }

    /// What is in the folder now.
    private var inPlace: [Candidates.Candidate] {
        PassedCredential.all(in: folder).map { .init(name: $0.name, digest: digest(of: $0)) }
    }

    /// Looks at the next one, as soon as it is known what is noted of it.
    private func goOn() {
        guard let attempt = next() else { return }
        vault.stage(of: attempt.digest) { [self] stage in
            loop.execute { [self] in
                guard isCurrent(attempt) else { return }
                let facts = owner.assumeIsolated { $0.snapshot.facts }
                if isCalledFor(attempt, stage, facts) { make(announce(attempt)) } else { goOn() }
            }
        }
    }

    private func next() -> Attempt? { state.withLock { $0.candidates.next() } }

    /// Looks again at the credentials that were held back, once no user is signed in or about to be.
    private func lookAgain(beside session: SessionState) {
        guard session == .notLoggedIn || session == .terminated,
            state.withLock({ $0.candidates.renew(.heldBack) })
        else { return }
        // The owner is in the middle of a step.
        loop.execute { [self] in goOn() }
    }

    private func isCalledFor(_ attempt: Attempt, _ stage: Vault.Stage, _ facts: Snapshot.Facts) -> Bool {
        let noted: UsedCredentials.Stage?
        switch stage {
        case .success(let stage): noted = stage
        case .failure(let fault):
            cannotKnow(attempt, fault)
            return false
        }
        guard noted != .done else {
            leave(attempt, .decided, "it was used before")
            return false
        }
        guard facts.storage.status == .ok else {
            leave(attempt, .setAside, "the stored session cannot be read")
            return false
        }
        switch facts.state {
        case .notLoggedIn, .terminated:
            state.withLock { $0.notBefore = noted?.notBefore }
            return true
        case .established where noted == .begun, .tokenExpired where noted == .begun:
            // After a crash in the middle: it was this credential that signed the user in.
            note(.done, of: attempt)
            leave(attempt, .decided, "somebody is signed in")
        case .established, .tokenExpired, .establishing:
            holdBack(attempt)
        }
        return false
    }

    private func leave(_ attempt: Attempt, _ progress: Candidates.Progress, _ reason: String) {
        move(attempt, to: progress, .unused(reason))
        logger.info("The credential \(attempt.name) is not used: \(reason)")
    }

    /// It is as good as before, and not called for now.
    private func holdBack(_ attempt: Attempt) {
        leave(attempt, .heldBack, "somebody is signed in, or about to be; it is kept until nobody is")
    }

    private func cannotKnow(_ attempt: Attempt, _ fault: FileFault) {
        move(attempt, to: .setAside, .unknowable(fault.description))
        logger.error(
            "The credential \(attempt.name) is not tried: whether it was used before cannot be known",
            metadata: .of(nil, [.error: "\(fault)"])
        )
    }

    private func move(_ attempt: Attempt, to progress: Candidates.Progress, _ situation: Candidates.Situation? = nil) {
        state.withLock { $0.candidates.move(attempt, to: progress, situation) }
    }

    private func isCurrent(_ attempt: Attempt) -> Bool { state.withLock { $0.candidates.isCurrent(attempt) } }

    // MARK: Trying

    private func announce(_ attempt: Attempt) -> Attempt {
        move(attempt, to: .trying, .tried(nil))
        state.withLock { $0.retry = Retry() }
        return attempt
    }

    /// Waits for the provider's pause, stores that the attempt began, then signs in.
    private func make(_ attempt: Attempt) {
        guard isCurrent(attempt) else { return }
        let now = owner.now.wall
        if let end = state.withLock({ $0.notBefore.take() }), end > now {
            move(attempt, to: .waiting)
            return tryAgain(attempt, retryAfter: end - now)
        }
        note(.begun, of: attempt) { [self] in
            loop.execute { [self] in
                if isCurrent(attempt) { signIn(attempt) }
            }
        }
    }

    private func signIn(_ attempt: Attempt) {
        guard let credential = PassedCredential.named(attempt.name, in: folder),
            digest(of: credential) == attempt.digest
        else { return gone(attempt) }
        owner.assumeIsolated { owner in
            owner.signIn(credential.value, by: getuid()) { [self] outcome in
                switch outcome {
                case .success(let snapshot): succeeded(attempt, snapshot)
                case .failure(let refusal): if isCurrent(attempt) { failed(attempt, refusal) }
                }
            }
        }
    }

    /// Waits for the next attempt. A sign-out ends the wait, and the credential with it.
    private func tryAgain(_ attempt: Attempt, retryAfter: Duration?) {
        let before = state.withLock { $0.retry }
        owner.assumeIsolated { owner in
            owner.waitToRetry(after: before, retryAfter: retryAfter) { [self] outcome in
                guard case .success(let retry) = outcome, isCurrent(attempt) else { return }
                state.withLock { $0.retry = retry }
                switch owner.assumeIsolated({ $0.snapshot.facts.state }) {
                case .notLoggedIn, .terminated:
                    move(attempt, to: .trying)
                    make(attempt)
                case .establishing, .established, .tokenExpired:
                    holdBack(attempt)
                    goOn()
                }
            }
        }
    }

    private func succeeded(_ attempt: Attempt, _ snapshot: Snapshot) {
        note(.done, of: attempt) { [logger] in
            logger.notice(
                "Signed in with the credential \(attempt.name)",
                metadata: .of(.signedIn, [.userId: "\(snapshot.facts.userId ?? "unknown")"])
            )
        }
        guard isCurrent(attempt) else { return }
        move(attempt, to: .decided, .hasSignedIn)
        look()
    }

    private func failed(_ attempt: Attempt, _ refusal: Refusal) {
        switch refusal.kind {
        case .providerUnavailable, .misconfigured, .busy:
            move(attempt, to: .waiting, .tried(refusal.message))
            note(.unspent(notBefore: refusal.retryAfter.map { owner.now.wall + $0 }), of: attempt)
            logger.warning(
                "The credential \(attempt.name) could not be exchanged yet; it is tried again",
                metadata: .of(nil, [.error: "\(refusal.message)"])
            )
            tryAgain(attempt, retryAfter: refusal.retryAfter)
        case .alreadySignedIn:
            // Somebody was faster: nothing came of it, and nothing was spent.
            note(.unspent(), of: attempt)
            holdBack(attempt)
        case .unsupported, .storageUnavailable:
            // It was not even looked at, and may be good after a change of the configuration.
            move(attempt, to: .setAside, .useless(refusal.message))
            note(.unspent(), of: attempt)
            logger.error(
                "The credential \(attempt.name) cannot be used here",
                metadata: .of(nil, [.error: "\(refusal.message)"])
            )
        case .invalidCredential, .notSignedIn, .reauthenticationRequired, .sessionTerminated, .permissionDenied,
            .incompatibleCredential, .tokenExpired, .invalidParameters:
            move(attempt, to: .decided, .useless(refusal.message))
            note(.done, of: attempt) { [logger] in
                logger.error(
                    "The credential \(attempt.name) signs nobody in, and is not tried again: pass a new one",
                    metadata: .of(nil, [.error: "\(refusal.message)"])
                )
            }
        }
        // Another one may have come while this was at the provider.
        look()
    }

    /// Another one is in its place by now, or none.
    private func gone(_ attempt: Attempt) {
        state.withLock { $0.candidates.remove(attempt) }
        note(.unspent(), of: attempt)
        logger.info("The credential \(attempt.name) is not used: it is not in its place any more")
        look()
    }

    /// A sign-out begins, and is written after this: it ends every credential that is in place.
    ///
    /// - Returns: whether there was one.
    private func overtaken() -> Bool {
        let found = inPlace
        let ended = state.withLock { $0.candidates.end(with: found) }
        for candidate in ended {
            note(.done, of: candidate.name, candidate.digest)
            logger.notice("The credential \(candidate.name) is not used any more: there was a sign-out")
        }
        return !ended.isEmpty
    }

    // MARK: What is noted

    private func digest(of credential: PassedCredential) -> String {
        UsedCredentials.digest(of: credential.secret, installation: vault.installationId ?? "")
    }

    private func note(
        _ stage: UsedCredentials.Stage,
        of attempt: Attempt,
        then: @escaping @Sendable () -> Void = {}
    ) {
        note(stage, of: attempt.name, attempt.digest, then: then)
    }

    /// In the order of these calls and of everything else that is written: a sign-out that follows finds it on disk.
    ///
    /// - Parameter then: called once it is there, or the disk has refused it: what is said to be so is so after a crash.
    private func note(
        _ stage: UsedCredentials.Stage,
        of name: String,
        _ digest: String,
        then: @escaping @Sendable () -> Void = {}
    ) {
        vault.note(stage, of: digest) { [logger] isStored in
            if !isStored {
                logger.error(
                    """
                    How far it has come with the credential \(name) could not be noted, which is tried again with the next \
                    record: make room on the disk, or remove the credential from the unit
                    """
                )
            }
            then()
        }
    }
}
