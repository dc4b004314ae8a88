import Foundation
import Testing

/// Somebody wants a renewal while a switch from alice to bob is being written: no record may have the label of the one
/// and the tokens of the other.
@Suite struct SwitchWindowTests {
    /// The steps of the switch's own write after the one at which it is held, and steps of a second write, if there is
    /// one. With "none" the daemon is asked to end, which writes whatever it was about to write.
    static let points = [
        "temporarySynced", "renamed", "directorySynced", "swapped:2", "temporaryWritten:2", "renamed:2", "none",
    ]

    @Test(arguments: SwitchWindow.Intruder.allCases, points)
    func `a renewal in the middle of a switch mixes no two users`(
        intruder: SwitchWindow.Intruder,
        point: String
    ) throws {
        let window = try SwitchWindow(handled: intruder == .handledRenewal)
        let installation = window.installation
        try window.open(crashingAt: point)

        try window.admit(intruder)
        let isAnswered = try window.close()
        try installation.startDaemon()
        let app = try AnsweringApp(installation, "renew")
        let status = try installation.status()
        let owners = try installation.owners()

        #expect(status.externalUserId.map { window.users[$0] } == status.userId)
        #expect(owners == .all(status.userId))
        // Only before the rename may alice still be the one.
        if isAnswered || point != "temporarySynced" { #expect(status.userId == window.users["bob"]) }
        #expect(try installation.cloud.counter("familyRevocations") == 0)
        withExtendedLifetime(app) {}
    }
}
