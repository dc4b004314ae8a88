import Foundation
import JunctionTesting
import Testing

/// Tests a renewal during the write of a switch from alice to bob. No record may have one user's label and the other
/// user's tokens.
@Suite struct SwitchWindowTests {
    /// The steps of the switch's write after the held one, and the steps of a second write, if there is one. With
    /// "none" the daemon is stopped in order, which writes all pending changes.
    static let points = [
        "temporarySynced", "renamed", "directorySynced", "swapped:2", "temporaryWritten:2", "renamed:2", "none",
    ]

    struct Case: CustomTestStringConvertible, Sendable {
        var request: SwitchWindow.ConcurrentRequest
        var point: String

        var testDescription: String { "\(request) \(point)" }
    }

    /// For the token request two hours pass. The switch then counts before it is on disk, and bob is renewed
    /// ("swapped:2") while the write is held. A crash there loses a change that was reported as not durable.
    static let cases = SwitchWindow.ConcurrentRequest.allCases.flatMap { request in
        points.filter { request != .tokenCaller || $0 != "swapped:2" }.map { Case(request: request, point: $0) }
    }

    @Test(arguments: cases)
    func `a renewal during a switch mixes no data of two users`(_ the: Case) throws {
        let (request, point) = (the.request, the.point)
        let window = try SwitchWindow(handled: request == .handledRenewal)
        let installation = window.installation
        try window.open(crashingAt: point)

        try window.send(request)
        let isAnswered = try window.close()
        try installation.startDaemon()
        let app = try AnsweringApp(installation, "renew")
        let status = try installation.status()
        let owners = try installation.owners()

        #expect(status.externalUserId.map { window.users[$0] } == status.userId)
        #expect(owners == .all(status.userId))
        // Alice may still be signed in only if the crash came before the rename.
        if isAnswered || point != "temporarySynced" { #expect(status.userId == window.users["bob"]) }
        #expect(try installation.cloud.counter("familyRevocations") == 0)
        withExtendedLifetime(app) {}
    }
}
