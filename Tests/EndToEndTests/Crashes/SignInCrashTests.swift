import Foundation
import JunctionTesting
import Testing

/// SIGKILL during sign-in and sign-out: it has happened or it has not, and a reported success has.
@Suite struct SignInCrashTests {
    static let steps = ["temporaryWritten", "temporarySynced", "renamed", "directorySynced", "swapped"]

    @Test(arguments: steps)
    func `a daemon killed during a sign-in has signed in or has not`(step: String) throws {
        let installation = try Installation(configuration: "")
        let user = try installation.cloud.makeUser()
        try installation.startDaemon(["JUNCTIOND_CRASH_POINT": step])
        let isAnswered = try installation.isAnswered(
            installation.connect(),
            "session.signIn",
            installation.cloud.credential(for: user)
        )
        #expect(try installation.daemon?.wait().wasKilled == true)

        try installation.startDaemon()
        let status = try installation.status()

        #expect(!isAnswered)
        #expect(status.storage["status"] as? String == "ok")
        switch status.state {
        case "established":
            #expect(try installation.owners() == .all(user))
        case "notLoggedIn":
            // Until the rename, the old state may stand.
            #expect(!["renamed", "directorySynced", "swapped"].contains(step))
        default:
            Issue.record("A half sign-in: \(status.state)")
        }
        #expect(try installation.signIn(user).userId == user)
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }

    @Test(arguments: ["temporaryWritten", "temporarySynced", "renamed", "directorySynced"])
    func `a daemon killed during a sign-out has signed out or has not`(step: String) throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        try installation.restartDaemon(["JUNCTIOND_CRASH_POINT": step])
        let isAnswered = try installation.isAnswered(installation.connect(), "session.signOut")
        #expect(try installation.daemon?.wait().wasKilled == true)

        try installation.startDaemon()
        let status = try installation.status()

        #expect(!isAnswered)
        switch status.state {
        case "established":
            #expect(!["renamed", "directorySynced"].contains(step))
            #expect(try installation.owners() == .all(user))
        case "notLoggedIn":
            #expect(status.userId == nil)
        default:
            Issue.record("A half sign-out: \(status.state)")
        }
        #expect(try installation.signOut().state == "notLoggedIn")
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }

    @Test func `a sign-in that was reported as durable survives SIGKILL at once`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()

        let signedIn = try installation.signIn(user)
        try installation.restartDaemon()

        #expect(signedIn.isDurable)
        #expect(try installation.owners() == .all(user))
    }

    @Test func `a sign-out that was reported as durable survives SIGKILL at once`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()

        let signedOut = try installation.signOut()
        try installation.restartDaemon()

        #expect(signedOut.isDurable)
        #expect(try installation.status().state == "notLoggedIn")
    }
}
