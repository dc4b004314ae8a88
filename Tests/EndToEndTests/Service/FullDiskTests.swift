import Foundation
import JunctionTesting
import Testing

/// Tests of a full disk. Only root can mount one.
@Suite(.enabled("only root can mount a small disk here") { SmallDisk.canBeMounted })
struct FullDiskTests {
    /// Creates an installation with a signed-in user, and fills its disk.
    private func full() throws -> (
        installation: Installation, disk: SmallDisk, notify: FakeServiceManager, user: String
    ) {
        let installation = try Installation()
        let disk = try SmallDisk(for: installation)
        let notify = try installation.startDaemon()
        let user = try installation.signInNewUser()
        try disk.fill()
        return (installation, disk, notify, user)
    }

    @Test func `a renewal on a full disk is served from memory and becomes durable when space is free`() throws {
        let (installation, disk, _, user) = try full()

        let renewed = try installation.connect().call("session.renew")
        let token = try installation.token()
        let metrics = try installation.ctl("metrics").output

        #expect(renewed.state == "established")
        #expect(renewed.generation == 2)
        #expect(!renewed.isDurable)
        #expect(token != nil)
        #expect(metrics.contains("junctiond_session_durable 0"))
        try disk.makeRoom()
        let durable = try installation.awaitSnapshot { $0.isDurable }
        #expect(durable.generation == 2)
        try installation.restartDaemon()
        #expect(try installation.status().userId == user)
        #expect(try installation.token() == token)
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }

    @Test func `doctor reports a full disk before a renewal fails`() throws {
        let (installation, disk, _, _) = try full()

        let doctor = try withExtendedLifetime(disk) { try installation.ctl("doctor") }

        #expect(doctor.status == 1)
        #expect(
            doctor.output.contains("problem  disk space: The file system of \(installation.stateDirectory) is full: "),
            "\(doctor.output)"
        )
    }

    @Test func `a rotation that the disk refuses survives a crash in the file-descriptor store`() throws {
        let (installation, disk, notify, user) = try full()
        try installation.connect().call("session.renew")
        let token = try installation.token()
        try notify.catchUp()
        try installation.killDaemon()

        let successor = try installation.startDaemon(kept: notify.kept)
        let adopted = try installation.status()
        #expect(adopted.userId == user)
        #expect(adopted.generation == 2)
        #expect(!adopted.isDurable)
        #expect(try installation.token() == token)
        // The old refresh token is spent: if the daemon sent it, the provider would end the session.
        #expect(try installation.connect().call("session.renew").generation == 3)
        try disk.makeRoom()

        try installation.awaitSnapshot { $0.isDurable }
        try successor.wait(for: "FDSTOREREMOVE=1")
        try installation.restartDaemon()
        #expect(try installation.status().generation == 3)
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }

    @Test func `a sign-out that the disk refuses is not undone by a crash`() throws {
        let (installation, disk, notify, _) = try full()
        try installation.signOut()
        try notify.catchUp()
        try installation.killDaemon()

        try installation.startDaemon(kept: notify.kept)

        #expect(try withExtendedLifetime(disk) { try installation.status().state } == "notLoggedIn")
    }

    @Test func `a sign-out that cannot be stored ends with 75 and becomes durable when space is free`() throws {
        let (installation, disk, _, _) = try full()

        let ending = try installation.ctl("sign-out")

        #expect(ending.status == 75)
        #expect(ending.errors.contains("(notDurable): "))
        #expect(try installation.status().state == "notLoggedIn")
        #expect(try installation.connect().refusal("token.get").kind == "notSignedIn")
        try disk.makeRoom()
        try installation.awaitSnapshot { $0.isDurable }
        try installation.restartDaemon()
        #expect(try installation.status().state == "notLoggedIn")
    }

    @Test func `a credential that a sign-out on a full disk cancels stays cancelled when space is free`() throws {
        let installation = try Installation()
        let credentials = try Credentials(installation)
        let disk = try SmallDisk(for: installation)
        let user = try installation.cloud.makeUser()
        try credentials.write(Data(installation.cloud.signInToken(for: user).utf8), to: "signInToken")
        let busy: Object = ["match": "/v1/", "status": 503, "headers": ["Retry-After": "3600"], "times": 1]
        try installation.cloud.fault(busy)
        try installation.startDaemon()
        try installation.daemon?.awaitError("it is tried again")
        try disk.fill()

        #expect(try installation.ctl("sign-out").status == 75)

        try disk.makeRoom()
        try installation.awaitSnapshot { $0.isDurable }
        try installation.restartDaemon()
        try installation.daemon?.awaitError("it was used before")
        #expect(try installation.status().state == "notLoggedIn")
    }

    @Test func `a sign-in on a full disk reports that it is not durable`() throws {
        let installation = try Installation()
        let disk = try SmallDisk(for: installation)
        try installation.startDaemon()
        let user = try installation.cloud.makeUser()
        try disk.fill()

        let ending = try installation.ctl("sign-in", "--json", input: installation.cloud.signInToken(for: user))

        #expect(ending.status == 75)
        #expect(try ending.json().userId == user)
        #expect(try installation.token() != nil)
        try disk.makeRoom()
        try installation.awaitSnapshot { $0.isDurable }
        try installation.restartDaemon()
        #expect(try installation.status().userId == user)
    }
}

/// A file system smaller than the space that the daemon reserves.
private final class SmallDisk {
    private let folder: TemporaryFolder
    private let path: String

    static let canBeMounted: Bool = {
        guard geteuid() == 0 else { return false }
        let folder = TemporaryFolder()
        guard (try? mount(folder.path, in: folder)) != nil else { return false }
        return unmount(folder.path, in: folder)
    }()

    init(for installation: Installation) throws {
        folder = installation.folder
        path = try folder.makeFolder("disk")
        try Self.mount(path, in: folder)
        installation.stateDirectory = path + "/state"
    }

    func fill() throws {
        let file = open(path + "/filler", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        defer { close(file) }
        let block = [UInt8](repeating: 1, count: 512)
        while write(file, block, block.count) > 0 {}
    }

    func makeRoom() throws {
        try FileManager.default.removeItem(atPath: path + "/filler")
    }

    private static func mount(_ path: String, in folder: TemporaryFolder) throws {
        let arguments = ["-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", path]
        let ending = try Program("/usr/bin/mount", arguments, in: folder).wait()
        guard ending.status == 0 else { throw TestFailure(description: "mount: \(ending.errors)") }
    }

    /// Unmounts lazily, because the daemon may have files open.
    @discardableResult
    private static func unmount(_ path: String, in folder: TemporaryFolder) -> Bool {
        (try? Program("/usr/bin/umount", ["--lazy", path], in: folder).wait())?.status == 0
    }

    deinit { Self.unmount(path, in: folder) }
}
