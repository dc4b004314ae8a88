import Foundation
import JunctionTesting
import Testing

/// SIGKILL at each step of the write that replaces one user by another: it is the one or the other, label and tokens.
@Suite struct SwitchCrashTests {
    /// The last is the owner's: the switch is in force, and nobody has been told. The start reaches it too.
    static let points = ["temporaryWritten", "temporarySynced", "renamed", "directorySynced", "swapped:2"]
    /// From the rename on there is no way back.
    private static let decided: Set = ["renamed", "directorySynced", "swapped:2"]

    @Test(arguments: points)
    func `a daemon killed at a step of a switch has the one user or the other, and that user's tokens`(
        point: String
    ) throws {
        let installation = try Installation.started()
        let users = try ["alice": installation.cloud.makeUser("alice"), "bob": installation.cloud.makeUser("bob")]
        try IdentifyingApp(installation, users: users).identify("alice")
        try installation.restartDaemon(["JUNCTIOND_CRASH_POINT": point])
        #expect(throws: Program.Failure.self) { try IdentifyingApp(installation, users: users).identify("bob") }
        #expect(try installation.daemon?.wait().wasKilled == true)

        try installation.startDaemon()
        let status = try installation.status()
        let owners = try installation.owners()

        #expect(status.state == "established")
        #expect(status.storage["status"] as? String == "ok")
        #expect(status.externalUserId.map { users[$0] } == status.userId)
        #expect(owners == .all(status.userId))
        if Self.decided.contains(point) { #expect(status.userId == users["bob"]) }
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }

    @Test func `what a kill left half done is done by the next identify`() throws {
        let installation = try Installation.started()
        let users = try ["alice": installation.cloud.makeUser("alice"), "bob": installation.cloud.makeUser("bob")]
        try IdentifyingApp(installation, users: users).identify("alice")
        try installation.restartDaemon(["JUNCTIOND_CRASH_POINT": "temporaryWritten"])
        #expect(throws: Program.Failure.self) { try IdentifyingApp(installation, users: users).identify("bob") }
        try installation.daemon?.wait()

        try installation.startDaemon()
        try IdentifyingApp(installation, users: users).identify("bob")

        #expect(try installation.status().userId == users["bob"])
        #expect(try installation.owners() == .all(users["bob"]))
        try installation.restartDaemon()
        #expect(try installation.owners() == .all(users["bob"]))
    }
}
