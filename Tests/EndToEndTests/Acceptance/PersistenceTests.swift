import Foundation
import JunctionTesting
import Testing

/// Tests of a broken store, and of watchers.
@Suite struct PersistenceTests {
    @Test func `an altered record is reported as damaged and kept, and a sign-in replaces it`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        try installation.killDaemon()
        let record = installation.stateDirectory + "/session.sealed"
        var bytes = try #require(FileManager.default.contents(atPath: record))
        bytes[bytes.count - 20] ^= 1
        try bytes.write(to: URL(fileURLWithPath: record))

        try installation.startDaemon()
        let damaged = try installation.status()
        let error = try installation.connect().refusal("token.get")

        #expect(damaged.storage["status"] as? String == "damaged")
        #expect(damaged.userId == user)
        #expect(error.kind == "storageUnavailable")
        #expect(try installation.cloud.counter("tokenRequests") == 1)
        #expect(FileManager.default.contents(below: installation.stateDirectory).contains { $0.bytes == bytes })
        let healed = try installation.signIn(user)
        #expect(healed.state == "established")
        #expect(healed.storage["status"] as? String == "ok")
        // The damaged record is kept after the sign-in, so that an administrator can examine it.
        #expect(FileManager.default.contents(below: installation.stateDirectory).contains { $0.bytes == bytes })
        try installation.restartDaemon()
        #expect(try installation.status().storage["status"] as? String == "ok")
        #expect(try installation.token() != nil)
    }

    @Test func `only the owner may read the daemon's files`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()

        let files = FileManager.default
        #expect(files.mode(of: installation.stateDirectory) == 0o700)
        for name in try files.subpathsOfDirectory(atPath: installation.stateDirectory) {
            let mode = try #require(files.mode(of: installation.stateDirectory + "/" + name))
            #expect(mode & 0o077 == 0, "\(name)")
        }
    }

    @Test func `a watcher receives the present state first and then every transition`() throws {
        let installation = try Installation.started(accessTokenLifetime: 2)
        let watcher = try installation.connect()
        let first = try watcher.call("session.subscribe")
        try installation.cloud.fault(["status": 503, "headers": ["Retry-After": "1"]])
        let user = try installation.signInNewUser()
        var heard = [first]
        func listen(until fits: (Object) -> Bool) throws {
            repeat { heard.append(try watcher.snapshot()) } while !fits(heard[heard.count - 1])
        }

        try listen { $0.state == "tokenExpired" }
        try installation.cloud.change(["accessTokenLifetime": 3_600])
        try installation.cloud.clearFaults()
        try listen { $0.state == "established" && $0.generation == 2 }
        try installation.cloud.drive("require-reauthentication", user)
        #expect(try installation.connect().refusal("session.renew").kind == "reauthenticationRequired")
        try listen { $0.flags.contains("pendingReauthentication") }
        try installation.signIn(user)
        try listen { !$0.flags.contains("pendingReauthentication") && $0.generation == 3 }
        try installation.cloud.drive("delete", user)
        #expect(try installation.connect().refusal("session.renew").kind == "sessionTerminated")
        try listen { $0.state == "terminated" }
        try installation.signOut()
        try listen { $0.state == "notLoggedIn" }

        let revisions = heard.map(\.revision)
        #expect(zip(revisions, revisions.dropFirst()).allSatisfy { $0 < $1 })
        let states = heard.map(\.state)
        let changes = states.indices.filter { $0 == 0 || states[$0] != states[$0 - 1] }.map { states[$0] }
        #expect(
            changes == [
                "notLoggedIn", "establishing", "established", "tokenExpired", "established", "terminated",
                "notLoggedIn",
            ]
        )
    }
}
