import Foundation
import JunctionTesting
import Testing

/// Tests of the sealing key that the service manager passes as a credential.
@Suite struct SealingKeyCredentialTests {
    @Test func `the session is restored only with its key`() throws {
        let installation = try Installation()
        let credentials = try Credentials(installation, key: 1)
        try installation.startDaemon()
        let user = try installation.signInNewUser()
        let token = try installation.token()
        #expect(try installation.status().storage["sealedWith"] as? String == "host")
        #expect(!FileManager.default.fileExists(atPath: installation.stateDirectory + "/junctiond.key"))

        try credentials.take()
        try installation.restartDaemon()
        let locked = try installation.status()
        let client = try installation.connect()
        let refused = try client.refusal("token.get")
        let signIn = try client.refusal("session.signIn", installation.cloud.credential(for: user))
        try credentials.put(1)
        try installation.restartDaemon()

        #expect(locked.state == "established")
        #expect(locked.userId == user)
        #expect(locked.storage["status"] as? String == "locked")
        #expect(refused.code == 1009)
        #expect(refused.message.contains("junctiond.key"))
        #expect(signIn.kind == "storageUnavailable")
        #expect(signIn.message.contains("LoadCredentialEncrypted"))
        #expect(try installation.token() == token)
    }

    @Test func `with another key the session is locked, and a sign-in seals a new record`() throws {
        let installation = try Installation()
        let credentials = try Credentials(installation, key: 1)
        try installation.startDaemon()
        let user = try installation.signInNewUser()

        try credentials.put(2)
        try installation.restartDaemon()
        let locked = try installation.status()
        let refused = try installation.connect().refusal("token.get")
        let resealed = try installation.signIn(user)
        try installation.restartDaemon()

        #expect(locked.storage["status"] as? String == "locked")
        #expect(locked.userId == user)
        #expect(refused.kind == "storageUnavailable")
        #expect(resealed.storage["status"] as? String == "ok")
        #expect(try installation.status().storage["status"] as? String == "ok")
        #expect(try installation.token() != nil)
    }

    @Test func `without a key the daemon keeps running, and a sign-out works`() throws {
        let installation = try Installation()
        let credentials = try Credentials(installation, key: 1)
        try installation.startDaemon()
        try installation.signInNewUser()
        try credentials.take()

        for _ in 0..<3 {
            try installation.restartDaemon()
            #expect(try installation.status().storage["status"] as? String == "locked")
        }
        let signedOut = try installation.signOut()
        try credentials.put(1)
        try installation.restartDaemon()

        #expect(signedOut.state == "notLoggedIn")
        #expect(try installation.status().state == "notLoggedIn")
    }

    @Test(arguments: ["host+tpm2", "tpm2", "host"])
    func `the recorded binding of the key is reported`(binding: String) throws {
        let installation = try Installation()
        let credentials = try Credentials(installation, key: 1)
        try credentials.write(Data("\(binding)\n".utf8), to: "junctiond.key.binding")

        try installation.startDaemon()

        #expect(try installation.status().storage["sealedWith"] as? String == binding)
    }
}
