import Foundation
import JunctionTesting
import Testing

/// Kills the daemon at each step of the write that replaces one user by another. Label and tokens always belong to the
/// same user.
@Suite struct SwitchCrashTests {
    /// The steps of the write. The last one is reached when the switch is in force but not reported. The start reaches
    /// it too.
    static let points = ["temporaryWritten", "temporarySynced", "renamed", "directorySynced", "swapped:2"]
    /// The steps after which the switch must be complete.
    private static let decided: Set = ["renamed", "directorySynced", "swapped:2"]

    @Test(arguments: points)
    func `a daemon killed at a step of a switch has one user and that user's tokens`(
        point: String
    ) throws {
        let installation = try Installation.started()
        let users = try ["alice": installation.cloud.makeUser("alice"), "bob": installation.cloud.makeUser("bob")]
        try IdentifyingApp(installation, users: users).identify("alice")
        try installation.restartDaemon(["JUNCTIOND_CRASH_POINT": point])
        #expect(throws: TestFailure.self) { try IdentifyingApp(installation, users: users).identify("bob") }
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

    @Test func `the next identify completes a switch that a kill interrupted`() throws {
        let installation = try Installation.started()
        let users = try ["alice": installation.cloud.makeUser("alice"), "bob": installation.cloud.makeUser("bob")]
        try IdentifyingApp(installation, users: users).identify("alice")
        try installation.restartDaemon(["JUNCTIOND_CRASH_POINT": "temporaryWritten"])
        #expect(throws: TestFailure.self) { try IdentifyingApp(installation, users: users).identify("bob") }
        try installation.daemon?.wait()

        try installation.startDaemon()
        try IdentifyingApp(installation, users: users).identify("bob")

        #expect(try installation.status().userId == users["bob"])
        #expect(try installation.owners() == .all(users["bob"]))
        try installation.restartDaemon()
        #expect(try installation.owners() == .all(users["bob"]))
    }
}
