import Foundation
import JunctionTesting
import Testing

/// Somebody wants a renewal while a switch from alice to bob is being written: no record may have the label of the one
/// and the tokens of the other.
@Suite struct SwitchWindowTests {
    /// The steps of the switch's own write after the one at which it is held, and steps of a second write, if there is
    /// one. With "none" the daemon is asked to end, which writes whatever it was about to write.
    static let points = [
        "temporarySynced", "renamed", "directorySynced", "swapped:2", "temporaryWritten:2", "renamed:2", "none",
    ]

    struct Case: CustomTestStringConvertible, Sendable {
        var intruder: SwitchWindow.Intruder
        var point: String

        var testDescription: String { "\(intruder) \(point)" }
    }

    /// For the token caller two hours pass: the switch then counts without the disk, and bob is renewed ("swapped:2") while its
    /// write is held. A crash there loses what was told as not durable.
    static let cases = SwitchWindow.Intruder.allCases.flatMap { intruder in
        points.filter { intruder != .tokenCaller || $0 != "swapped:2" }.map { Case(intruder: intruder, point: $0) }
    }

    @Test(arguments: cases)
    func `a renewal in the middle of a switch mixes no two users`(_ the: Case) throws {
        let (intruder, point) = (the.intruder, the.point)
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
