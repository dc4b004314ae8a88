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
/// say, which a sign-out ends. A credential that is of no use waits for another one in its place.
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
        /// The credential that was looked at last.
        var credential: PassedCredential
        var situation = Situation.unused("nobody has looked at it yet")
        /// Counts what was tried, so that what comes of an earlier one changes nothing.
        var attempt = 0
        var watch: CredentialWatch?
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

    /// An attempt that was announced, and may have been overtaken.
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
        guard isCalledFor(credential, vault.stage(of: digest(of: credential)), facts) else { return nil }
        return try loop.submit { [self] in announce(credential) }.wait()
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
        }
    }

    /// Looks whether there is another credential than before.
    func look() {
        guard let found = PassedCredential.found(in: folder) else { return }
        let digest = digest(of: found)
        let isNew = state.withLock { state in
            defer { state.credential = found }
            return self.digest(of: state.credential) != digest
        }
        guard isNew else { return }
        vault.stage(of: digest) { [self] stage in
            loop.execute { [self] in
                let facts = owner.assumeIsolated { $0.snapshot.facts }
                if isCalledFor(found, stage, facts) { make(announce(found)) }
            }
        }
    }

    private func isCalledFor(
        _ credential: PassedCredential,
        _ stage: UsedCredentials.Stage?,
        _ facts: Snapshot.Facts
    ) -> Bool {
        guard stage != .done else { return leave(credential, "it was used before") }
        guard facts.storage.status == .ok else { return leave(credential, "the stored session cannot be read") }
        guard !isTaken(facts) else {
            // After a crash in the middle: it was this credential that signed the user in.
            if stage == .begun { note(.done, of: credential) }
            return leave(credential, "somebody is signed in")
        }
        return true
    }

    private func leave(_ credential: PassedCredential, _ reason: String) -> Bool {
        state.withLock { $0.situation = .unused(reason) }
        logger.info("The credential \(credential.name) is not used: \(reason)")
        return false
    }

    /// Whether somebody is signed in, or is about to be.
    private func isTaken(_ facts: Snapshot.Facts) -> Bool {
        switch facts.state {
        case .notLoggedIn, .terminated: false
        case .establishing, .established, .tokenExpired: true
        }
    }

    // MARK: Trying

    /// From here on a sign-out ends it.
    private func announce(_ credential: PassedCredential) -> Attempt {
        let number = state.withLock { state in
            state.attempt += 1
            state.situation = .tried(nil)
            return state.attempt
        }
        let attempt = Attempt(credential: credential, number: number)
        owner.assumeIsolated { owner in
            owner.enrolmentBegan { [self] news in
                switch news {
                case .tryAgain: tryAgain(attempt)
                case .signedOut: overtaken(credential)
                }
            }
        }
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
                case .failure(let refusal): if isCurrent(attempt) { failed(attempt.credential, refusal) }
                }
            }
        }
    }

    private func tryAgain(_ attempt: Attempt) {
        guard isTaken(owner.assumeIsolated { $0.snapshot.facts }) else { return signIn(attempt) }
        end(.unused("somebody is signed in"))
        note(.done, of: attempt.credential)
    }

    private func succeeded(_ attempt: Attempt, _ snapshot: Snapshot) {
        if isCurrent(attempt) { end(.hasSignedIn) }
        let credential = attempt.credential
        note(.done, of: credential) { [logger] in
            logger.notice(
                "Signed in with the credential \(credential.name)",
                metadata: .of(.signedIn, [.userId: "\(snapshot.facts.userId ?? "unknown")"])
            )
        }
    }

    private func failed(_ credential: PassedCredential, _ refusal: Refusal) {
        switch refusal.kind {
        case .providerUnavailable, .busy:
            state.withLock { $0.situation = .tried(refusal.message) }
            logger.warning(
                "The credential \(credential.name) could not be exchanged yet; it is tried again",
                metadata: .of(nil, [.error: "\(refusal.message)"])
            )
            owner.assumeIsolated { $0.enrolmentFailed(retryAfter: refusal.retryAfter) }
        case .unsupported, .storageUnavailable:
            // It was not even looked at, and may be good after a change of the configuration.
            end(.useless(refusal.message))
            logger.error(
                "The credential \(credential.name) cannot be used here",
                metadata: .of(nil, [.error: "\(refusal.message)"])
            )
        case .alreadySignedIn, .invalidCredential, .notSignedIn, .reauthenticationRequired, .sessionTerminated,
            .permissionDenied, .incompatibleCredential, .tokenExpired, .invalidParameters:
            end(.useless(refusal.message))
            note(.done, of: credential) { [logger] in
                logger.error(
                    "The credential \(credential.name) signs nobody in, and is not tried again: pass a new one",
                    metadata: .of(nil, [.error: "\(refusal.message)"])
                )
            }
        }
    }

    /// There was a sign-out, which is written when this has been.
    private func overtaken(_ credential: PassedCredential) {
        state.withLock { state in
            state.attempt += 1
            state.situation = .unused("there was a sign-out")
        }
        note(.done, of: credential)
        logger.notice("The credential \(credential.name) is not used any more: there was a sign-out")
    }

    private func end(_ situation: Situation) {
        state.withLock { state in
            state.attempt += 1
            state.situation = situation
        }
        owner.assumeIsolated { $0.enrolmentEnded() }
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
                    "That the credential \(credential.name) was used could not be written: remove it from the unit"
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
