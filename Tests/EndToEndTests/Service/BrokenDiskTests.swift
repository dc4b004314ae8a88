import Foundation
import JunctionTesting
import Testing

/// Tests of a disk that refuses every sync (EIO), without a file-descriptor store.
@Suite struct BrokenDiskTests {
    @Test func `a rotation that cannot be synced survives two crashes`() throws {
        // With a grace, an older refresh token could work too.
        let installation = try Installation(rotationGrace: 0)
        let disk = try BrokenDisk(installation)
        try installation.startDaemon()
        let user = try installation.signInNewUser()
        try disk.breakDown()

        for generation in 2...4 {
            let renewed = try installation.connect().call("session.renew")
            #expect(renewed.generation == generation)
            #expect(!renewed.isDurable)
            let token = try installation.token()
            try installation.restartDaemon()

            let found = try installation.status()
            #expect(found.userId == user)
            #expect(found.generation == generation)
            #expect(!found.isDurable)
            #expect(try installation.token() == token)
        }

        try disk.mend()
        try installation.awaitSnapshot { $0.isDurable }
        #expect(try disk.leftovers == [])
        try installation.restartDaemon()
        #expect(try installation.status().generation == 4)
        #expect(try installation.connect().call("session.renew").generation == 5)
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }

    @Test func `a first sign-in on such a disk survives a crash`() throws {
        let installation = try Installation()
        let disk = try BrokenDisk(installation)
        // The first start creates the sealing key. The daemon seals nothing with a key that is not on disk.
        try installation.startDaemon()
        try disk.breakDown()
        let user = try installation.cloud.makeUser()

        let ending = try installation.ctl("sign-in", input: installation.cloud.signInToken(for: user))

        #expect(ending.status == 75)
        try installation.restartDaemon()
        #expect(try installation.status().userId == user)
        try disk.mend()
        try installation.awaitSnapshot { $0.isDurable }
        #expect(try disk.leftovers == [])
        try installation.restartDaemon()
        #expect(try installation.status().userId == user)
    }

    @Test func `a sign-out on such a disk survives a crash`() throws {
        let installation = try Installation()
        let disk = try BrokenDisk(installation)
        try installation.startDaemon()
        try installation.signInNewUser()
        try disk.breakDown()

        #expect(try installation.ctl("sign-out").status == 75)
        try installation.restartDaemon()

        #expect(try installation.status().state == "notLoggedIn")
    }
}
