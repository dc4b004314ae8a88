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

/// A credential of the service manager against somebody who is faster: a real owner and a real vault on a real loop.
@Suite final class ProvisioningTests {
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

    /// An owner that has started with what the vault holds.
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

    private func provisioning(of owner: SessionOwner) throws -> Provisioning {
        let (loop, vault, folder) = (group.next(), vault, folder)
        return try #require(
            try loop.submit {
                Provisioning(
                    folder: folder.path + "/credentials",
                    owner: owner,
                    vault: vault,
                    loop: loop,
                    logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                )
            }.wait()
        )
    }

    private func facts(_ owner: SessionOwner) throws -> Snapshot.Facts {
        try group.next().submit { owner.assumeIsolated { $0.snapshot.facts } }.wait()
    }

    private func digest(of credential: String) throws -> String {
        UsedCredentials.digest(
            of: SharedSecret(text: credential),
            installation: try #require(vault.installationId)
        )
    }

    /// Returns the user who is signed in next.
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

    @Test func `a try that somebody else's sign-in has overtaken is kept until nobody is signed in`() throws {
        try folder.write("alice\n", to: "credentials/signInToken")
        let (loop, owner) = (group.next(), owner)
        let provisioning = try provisioning(of: owner)
        let users = signedInUsers()
        let attempt = try provisioning.attempt(try facts(owner))
        #expect(attempt != nil)

        // Bob's request is there first, because it waits for no disk.
        try loop.submit {
            provisioning.begin(attempt)
            owner.assumeIsolated { $0.signIn(.signInToken(SharedSecret(text: "bob")), by: 0) { _ in } }
        }.wait()
        #expect(users.take() == "bob")
        provider.failRenewals(.terminated(code: "invalid_token", message: "gone"))
        try loop.submit { owner.assumeIsolated { $0.renew(by: 0) { _ in } } }.wait()

        // What the provider ends leaves room for what was kept.
        var next = users.take()
        while next == "bob" { next = users.take() }
        #expect(next == nil)
        while next != "alice" { next = users.take() }
        // The answer to the sign-in is given in the turn in which it is told.
        try loop.submit {}.wait()
        #expect(try vault.stage(of: try digest(of: "alice")).get() == .done)
        #expect(provisioning.candidates.map(\.situation) == [.hasSignedIn])
    }

    @Test func `the pause that the provider demands of a bootstrap credential survives a restart`() throws {
        try folder.write("alice\n", to: "credentials/signInToken")
        let loop = group.next()
        provider.failExchanges(.unavailable(Unavailability("Busy", retryAfter: .seconds(600))))
        let states = Signals<SessionState>()
        observer.onChange { states.put($0.facts.state) }
        let first = try provisioning(of: owner)
        let attempt = try first.attempt(try facts(owner))
        try loop.submit { first.begin(attempt) }.wait()
        while states.take() != .establishing {}
        while states.take() != .notLoggedIn {}
        try loop.submit {}.wait()
        let end = clock.now().wall + .seconds(600)
        #expect(try vault.stage(of: try digest(of: "alice")).get() == .unspent(notBefore: end))

        // The next process. The owner of the one before gets no alarm any more.
        clock.advance(by: .seconds(100))
        let owner = try Self.owner(provider, vault, clock, observer, on: loop)
        let users = signedInUsers()
        let second = try provisioning(of: owner)
        let again = try second.attempt(try facts(owner))
        try loop.submit { second.begin(again) }.wait()
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
