import Glibc
import JunctionSecret
import JunctionSession
import JunctionVault
import Logging
import NIOCore
import Synchronization

/// Signs in with the bootstrap credentials in the service manager's folder, as `BootstrapCredentials` decides. This
/// class reads and watches the folder, stores which credentials are used, and writes the log.
///
/// All its work runs on the event loop.
final class BootstrapSignIn: Sendable {
    private let folder: String
    private let owner: SessionOwner
    private let vault: Vault
    private let loop: any EventLoop
    private let logger: Logger
    private let credentials = Mutex(BootstrapCredentials())

    /// The service manager's names of the credentials, in the order in which the daemon tries them.
    private static let known: [(name: String, make: @Sendable (SharedSecret) -> Credential)] = [
        ("signInToken", { .signInToken($0) }),
        ("linkCode", { .linkCode($0) }),
    ]

    /// Returns nil if the service manager passed no credentials. After this, a sign-out ends every credential in place.
    ///
    /// Call it on the event loop. A thread that reads secrets may keep copies in its registers and on its stack. The
    /// event loop soon overwrites its copies, but the thread that starts the daemon sleeps from now on.
    init?(folder: String?, owner: SessionOwner, vault: Vault, loop: any EventLoop, logger: Logger) {
        guard let folder else { return nil }
        (self.folder, self.owner, self.vault, self.loop, self.logger) = (folder, owner, vault, loop, logger)
        loop.preconditionInEventLoop()
        owner.assumeIsolated { owner in
            owner.beforeSignOut { [self] in
                let inPlace = inPlace
                return handle { $0.signedOut(inPlace: inPlace) }
            }
            owner.watch { [self] snapshot in
                guard snapshot.facts.state == .notLoggedIn || snapshot.facts.state == .terminated else { return }
                // The owner calls this in the middle of a step.
                loop.execute { [self] in handle { $0.sessionEnded() } }
            }
        }
    }

    var findings: [ProbeFinding] { credentials.withLock { $0.all.map(\.finding) } }

    /// Begins to try the credentials, including those that are put in place later.
    func start() {
        do {
            try FolderWatch.start(of: [folder], on: loop) { [self] in perform(.scan) }
        } catch {
            logger.warning("A new credential is found after a restart only: \(error)")
        }
        perform(.scan)
    }

    func reloaded() {
        handle { $0.reloaded() }
    }

    // MARK: Actions

    /// - Returns: whether the event caused any action.
    @discardableResult
    private func handle(_ event: (inout BootstrapCredentials) -> [BootstrapCredentials.Action]) -> Bool {
        let actions = credentials.withLock { event(&$0) }
        for action in actions { perform(action) }
        return !actions.isEmpty
    }

    private func perform(_ action: BootstrapCredentials.Action) {
        switch action {
        case .scan:
            let inPlace = inPlace
            handle { $0.found(inPlace) }
        case .lookUp(let credential):
            vault.stage(of: credential.digest) { [self] stage in
                loop.execute { [self] in
                    let facts = owner.assumeIsolated { $0.snapshot.facts }
                    handle { $0.lookedUp(credential, stage, beside: facts, now: owner.now.wall) }
                }
            }
        case .begin(let credential):
            store(.begun, of: credential) { [self] in
                loop.execute { [self] in handle { $0.begun(credential) } }
            }
        case .signIn(let credential): signIn(credential)
        case .wait(let credential, let retry, let retryAfter):
            owner.assumeIsolated { owner in
                owner.waitToRetry(after: retry, retryAfter: retryAfter) { [self] outcome in
                    // The wait fails at a sign-out, which has already ended the credential.
                    guard case .success(let retry) = outcome else { return }
                    let state = self.owner.assumeIsolated { $0.snapshot.facts.state }
                    handle { $0.pauseEnded(credential, retry, beside: state) }
                }
            }
        case .report(let credential, let stage?):
            store(stage, of: credential) { [logger] in credential.log(to: logger) }
        case .report(let credential, nil): credential.log(to: logger)
        }
    }

    private func signIn(_ credential: BootstrapCredential) {
        guard let (name, make) = Self.known.first(where: { $0.name == credential.name }), let secret = secret(name),
            digest(of: secret) == credential.digest
        else {
            handle { $0.gone(credential) }
            return
        }
        owner.assumeIsolated { owner in
            owner.signIn(make(secret), by: getuid()) { [self] outcome in
                switch outcome {
                case .success(let snapshot): handle { $0.signedIn(credential, as: snapshot.facts.userId) }
                case .failure(let refusal): handle { $0.refused(credential, refusal, now: self.owner.now.wall) }
                }
            }
        }
    }

    /// Stores the stage of the credential. Later writes come after this one, so a sign-out that follows finds the stage
    /// on disk.
    ///
    /// - Parameter then: called when the stage is on disk, or when the write has failed.
    private func store(
        _ stage: UsedCredentials.Stage,
        of credential: BootstrapCredential,
        then: @escaping @Sendable () -> Void
    ) {
        vault.note(stage, of: credential.digest) { [logger] isStored in
            if !isStored {
                logger.error(
                    """
                    The state of the credential \(credential.name) could not be stored; the daemon stores it with \
                    the next record: make room on the disk, or remove the credential from the unit
                    """
                )
            }
            then()
        }
    }

    // MARK: Files

    private var inPlace: [BootstrapCredential] {
        Self.known.compactMap { name, _ in
            secret(name).map { BootstrapCredential(name: name, digest: digest(of: $0)) }
        }
    }

    private func secret(_ name: String) -> SharedSecret? { SmallFile.secret(at: "\(folder)/\(name)") }

    private func digest(of secret: SharedSecret) -> String {
        UsedCredentials.digest(of: secret, installation: vault.installationId ?? "")
    }
}
