import Glibc
import JunctionSecret
import JunctionSession
import JunctionVault
import Logging
import NIOCore

/// Signs in with a credential that the service manager passed to the service, on a device that nobody sits at.
///
/// It happens when nobody is signed in, once; the same credential never signs in again, not after a sign-out, nor after a
/// restart. A device that is offline goes on trying until the provider has answered.
final class Provisioning: Sendable {
    /// A credential, and what the unit calls it.
    struct Credential: Sendable {
        let name: String
        let secret: SharedSecret
        private let make: @Sendable (SharedSecret) -> JunctionSession.Credential

        /// The first one that is there, in the folder of the service manager's credentials.
        static func found(in folder: String?) -> Credential? {
            guard let folder else { return nil }
            return known.lazy.compactMap { name, make in
                SmallFile.secret(at: "\(folder)/\(name)").map { Credential(name: name, secret: $0, make: make) }
            }.first
        }

        var value: JunctionSession.Credential { make(secret) }

        private static let known: [(String, @Sendable (SharedSecret) -> JunctionSession.Credential)] = [
            ("signInToken", { .signInToken($0) }),
            ("linkCode", { .linkCode($0) }),
        ]
    }

    private let credential: Credential
    private let owner: SessionOwner
    private let vault: Vault
    private let loop: any EventLoop
    private let logger: Logger

    private static let firstPause = Duration.seconds(2)
    private static let longestPause = Duration.seconds(600)

    init(_ credential: Credential, owner: SessionOwner, vault: Vault, loop: any EventLoop, logger: Logger) {
        self.credential = credential
        self.owner = owner
        self.vault = vault
        self.loop = loop
        self.logger = logger
    }

    /// Decides whether the credential is to be used, while nobody is served yet who could change what that depends on.
    ///
    /// - Returns: whether to `begin` as soon as the daemon is ready.
    func isCalledFor(_ facts: Snapshot.Facts) -> Bool {
        let stage = vault.stage(of: digest)
        guard stage != .done else { return leave("it was used before") }
        guard facts.storage.status == .ok else { return leave("the stored session cannot be read") }
        guard !isTaken(facts) else {
            // After a crash in the middle: it was this credential that signed the user in.
            if stage == .begun { note(.done) }
            return leave("somebody is signed in")
        }
        return true
    }

    /// Signs in, as soon as it is noted that this was tried.
    func begin() {
        note(.begun) { [self] in loop.execute { self.signIn(pause: Self.firstPause) } }
    }

    private var digest: String {
        UsedCredentials.digest(of: credential.secret, installation: vault.installationId ?? "")
    }

    private func leave(_ reason: String) -> Bool {
        logger.info("The credential \(credential.name) is not used: \(reason)")
        return false
    }

    private func signIn(pause: Duration) {
        owner.assumeIsolated { owner in
            owner.signIn(credential.value, by: getuid()) { [self] outcome in
                switch outcome {
                case .success(let snapshot): succeeded(snapshot)
                case .failure(let refusal): failed(refusal, pause)
                }
            }
        }
    }

    private func succeeded(_ snapshot: Snapshot) {
        note(.done) { [self] in
            logger.notice(
                "Signed in with the credential \(credential.name)",
                metadata: .of(.signedIn, [.userId: "\(snapshot.facts.userId ?? "unknown")"])
            )
        }
    }

    private func failed(_ refusal: Refusal, _ pause: Duration) {
        switch refusal.kind {
        case .providerUnavailable, .busy:
            tryAgain(after: refusal, pause)
        case .unsupported, .storageUnavailable:
            // It was not even looked at, and may be good after a change of the configuration.
            logger.error(
                "The credential \(credential.name) cannot be used here",
                metadata: .of(nil, [.error: "\(refusal.message)"])
            )
        default:
            note(.done) { [self] in
                logger.error(
                    "The credential \(credential.name) signs nobody in, and is not tried again: pass a new one",
                    metadata: .of(nil, [.error: "\(refusal.message)"])
                )
            }
        }
    }

    private func tryAgain(after refusal: Refusal, _ pause: Duration) {
        let pause = refusal.retryAfter.map { max($0, pause) } ?? pause
        logger.warning(
            "The credential \(credential.name) could not be exchanged yet; it is tried again",
            metadata: .of(nil, [.error: "\(refusal.message)", .retryAfter: "\(pause.wholeMilliseconds / 1_000)"])
        )
        let spread = pause * Double.random(in: 0.75...1.25)
        loop.scheduleTask(in: TimeAmount(spread)) { [self] in
            guard !isTaken(owner.assumeIsolated { $0.snapshot.facts }) else { return note(.done) }
            signIn(pause: min(pause * 2, Self.longestPause))
        }
    }

    /// Whether somebody is signed in, or is about to be.
    private func isTaken(_ facts: Snapshot.Facts) -> Bool {
        switch facts.state {
        case .notLoggedIn, .terminated: false
        case .establishing, .established, .tokenExpired: true
        }
    }

    /// In the order of these calls and of everything else that is written: a sign-out that follows finds it on disk.
    ///
    /// - Parameter then: called once it is there, or the disk has refused it: what is said to be so is so after a crash.
    private func note(_ stage: UsedCredentials.Stage, then: @escaping @Sendable () -> Void = {}) {
        vault.note(stage, of: digest) { [self] isStored in
            if !isStored {
                logger.error(
                    "That the credential \(credential.name) was used could not be written: remove it from the unit"
                )
            }
            then()
        }
    }
}
