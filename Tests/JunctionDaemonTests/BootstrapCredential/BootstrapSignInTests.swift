import Foundation
import JunctionSecret
import JunctionServer
import JunctionSession
import JunctionTesting
import JunctionVault
import Logging
import NIOCore
import NIOPosix
import Testing

@testable import JunctionDaemon

/// Bootstrap credentials in files, with a real owner and a real vault on a real event loop.
@Suite final class BootstrapSignInTests {
    private let folder = TemporaryFolder()
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let clock = ManualClock()
    private let provider: FakeProvider
    private let observer = RecordingObserver()
    private let vault: Vault
    private let owner: SessionOwner

    init() throws {
        try folder.makeFolder("credentials")
        let directory = try StateDirectory(path: folder.makeFolder("state"))
        let key = SealingKey(SharedSecret(text: String(repeating: "k", count: SealingKey.length)), origin: "file")
        vault = Vault(directory, try InstanceLock(directory), .key(key))
        provider = FakeProvider(clock: clock)
        owner = try Self.owner(provider, vault, clock, observer, on: group.next())
    }

    /// Returns an owner that has started with the vault's record.
    private static func owner(
        _ provider: FakeProvider,
        _ vault: Vault,
        _ clock: ManualClock,
        _ observer: RecordingObserver,
        on loop: any EventLoop
    ) throws -> SessionOwner {
        let owner = SessionOwner(
            provider: provider,
            store: vault,
            clock: clock,
            alarm: RecordingAlarm(),
            observer: observer,
            executor: loop.executor,
            tasks: LoopExecutor(loop),
            callsPerMinute: 60,
            seed: 1
        )
        let restoration = vault.restore()
        try loop.submit { owner.assumeIsolated { $0.start(with: restoration) } }.wait()
        return owner
    }

    private func bootstrap(_ owner: SessionOwner) throws -> BootstrapSignIn {
        let (loop, vault, folder) = (group.next(), vault, folder)
        return try #require(
            try loop.submit {
                BootstrapSignIn(
                    folder: folder.path + "/credentials",
                    owner: owner,
                    vault: vault,
                    loop: loop,
                    logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                )
            }.wait()
        )
    }

    /// Returns the stored stage of a credential.
    private func stage(of credential: String) throws -> UsedCredentials.Stage? {
        let digest = UsedCredentials.digest(
            of: SharedSecret(text: credential),
            installation: try #require(vault.installationId)
        )
        let stages = Signals<Vault.Stage>()
        vault.stage(of: digest) { stages.put($0) }
        return try stages.take().get()
    }

    /// Returns a queue of the users of established sessions. A terminated session adds nil.
    private func signedInUsers() -> Signals<String?> {
        let users = Signals<String?>()
        observer.onChange { snapshot in
            switch snapshot.facts.state {
            case .established: users.put(snapshot.facts.userId)
            case .terminated: users.put(nil)
            case .notLoggedIn, .establishing, .tokenExpired: break
            }
        }
        return users
    }

    deinit {
        try? group.syncShutdownGracefully()
    }

    @Test func `a credential is held back after another sign-in and signs in when that session has ended`() throws {
        try folder.write("alice\n", to: "credentials/signInToken")
        let (loop, owner) = (group.next(), owner)
        let bootstrap = try bootstrap(owner)
        let users = signedInUsers()

        // Bob's request is first, because it does not wait for the disk.
        try loop.submit {
            bootstrap.start()
            owner.assumeIsolated { $0.signIn(.signInToken(SharedSecret(text: "bob")), by: 0) { _ in } }
        }.wait()
        #expect(users.take() == "bob")
        provider.failRenewals(.terminated(code: "invalid_token", message: "gone"))
        try loop.submit { owner.assumeIsolated { $0.renew(by: 0) { _ in } } }.wait()

        // After the provider has terminated the session, the credential that was held back is tried.
        var next = users.take()
        while next == "bob" { next = users.take() }
        #expect(next == nil)
        while next != "alice" { next = users.take() }
        // The owner answers the sign-in in the turn in which it publishes the snapshot.
        try loop.submit {}.wait()
        #expect(try stage(of: "alice") == .done)
        #expect(bootstrap.findings.map(\.detail) == ["The credential signInToken has signed a user in."])
    }

    @Test func `the Retry-After pause of a bootstrap credential survives a restart`() throws {
        try folder.write("alice\n", to: "credentials/signInToken")
        let loop = group.next()
        provider.failExchanges(.unavailable(Unavailability("Busy", retryAfter: .seconds(600))))
        let states = Signals<SessionState>()
        observer.onChange { states.put($0.facts.state) }
        let first = try bootstrap(owner)
        try loop.submit { first.start() }.wait()
        while states.take() != .establishing {}
        while states.take() != .notLoggedIn {}
        try loop.submit {}.wait()
        let end = clock.now().wall + .seconds(600)
        #expect(try stage(of: "alice") == .unspent(notBefore: end))

        // The next process. The owner of the earlier one gets no alarms any more.
        clock.advance(by: .seconds(100))
        let owner = try Self.owner(provider, vault, clock, observer, on: loop)
        let users = signedInUsers()
        let second = try bootstrap(owner)
        try loop.submit { second.start() }.wait()
        // Waits until the stored stage has been read and the pause has begun.
        _ = try stage(of: "alice")
        try loop.submit {}.wait()
        clock.advance(by: .seconds(499))
        try loop.submit { owner.assumeIsolated { $0.alarmRang(clockJumped: false) } }.wait()
        #expect(provider.exchangeCalls == 1)

        // The daemon adds at most a tenth to a pause.
        clock.advance(by: .seconds(101))
        try loop.submit { owner.assumeIsolated { $0.alarmRang(clockJumped: false) } }.wait()
        #expect(users.take() == "alice")
        #expect(provider.exchangeCalls == 2)
    }
}
