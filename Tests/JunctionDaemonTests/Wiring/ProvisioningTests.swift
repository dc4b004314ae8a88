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
    private let folder = FileManager.default.temporaryDirectory.appending(path: "junctiond-\(UUID().uuidString)").path
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let clock = ManualClock()
    private let provider: FakeProvider
    private let observer = RecordingObserver()
    private let vault: Vault
    private let owner: SessionOwner

    init() throws {
        for name in ["", "/state", "/credentials"] {
            try FileManager.default.createDirectory(
                atPath: folder + name,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
        }
        let directory = try StateDirectory(path: folder + "/state")
        let key = SealingKey(SharedSecret(text: String(repeating: "k", count: SealingKey.length)), origin: "file")
        vault = Vault(directory, try InstanceLock(directory), .key(key))
        provider = FakeProvider(clock: clock)
        let loop = group.next()
        owner = SessionOwner(
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
        try loop.submit { [owner] in owner.assumeIsolated { $0.start(with: restoration) } }.wait()
    }

    deinit {
        try? group.syncShutdownGracefully()
        try? FileManager.default.removeItem(atPath: folder)
    }

    @Test func `a try that somebody else's sign-in has overtaken is kept until nobody is signed in`() throws {
        try Data("alice\n".utf8).write(to: URL(filePath: folder + "/credentials/signInToken"))
        let (loop, owner, vault, folder) = (group.next(), owner, vault, folder)
        let provisioning = try #require(
            try loop.submit {
                Provisioning(
                    folder: folder + "/credentials",
                    owner: owner,
                    vault: vault,
                    loop: loop,
                    logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                )
            }.wait()
        )
        let users = Signals<String?>()
        observer.onChange { snapshot in
            switch snapshot.facts.state {
            case .established: users.put(snapshot.facts.userId)
            case .terminated: users.put(nil)
            case .notLoggedIn, .establishing, .tokenExpired: break
            }
        }
        let attempt = try provisioning.attempt(try loop.submit { owner.assumeIsolated { $0.snapshot.facts } }.wait())
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
        let digest = UsedCredentials.digest(
            of: SharedSecret(text: "alice"),
            installation: try #require(vault.installationId)
        )
        #expect(try vault.stage(of: digest).get() == .done)
        #expect(provisioning.candidates.map(\.situation) == [.hasSignedIn])
    }
}
