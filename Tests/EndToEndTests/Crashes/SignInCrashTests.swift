import Foundation
import JunctionTesting
import Testing

/// Kills the daemon during sign-in and sign-out. The operation is complete or has no effect, and a reported success is
/// complete.
@Suite struct SignInCrashTests {
    static let steps = ["temporaryWritten", "temporarySynced", "renamed", "directorySynced", "swapped"]

    @Test(arguments: steps)
    func `a daemon killed during a sign-in is either signed in or signed out`(step: String) throws {
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
            // Before the rename, the old state is valid.
            #expect(!["renamed", "directorySynced", "swapped"].contains(step))
        default:
            Issue.record("A half sign-in: \(status.state)")
        }
        #expect(try installation.signIn(user).userId == user)
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }

    @Test(arguments: ["temporaryWritten", "temporarySynced", "renamed", "directorySynced"])
    func `a daemon killed during a sign-out is either signed out or signed in`(step: String) throws {
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
}
