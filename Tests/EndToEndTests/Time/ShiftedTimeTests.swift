import Foundation
import JunctionTesting
import Testing

/// The daemon notices by itself what happens to its clocks.
@Suite struct ShiftedTimeTests {
    @Test func `what fell due in a suspend is done at the resume`() throws {
        let installation = try Installation()
        let time = try ShiftedTime(installation)
        try installation.startDaemon()
        let user = try installation.signInNewUser()
        let watcher = try installation.watch()

        time.advance(by: .hours(10))

        let snapshot = try watcher.awaitSnapshot { $0.generation == 2 }
        let end = try #require(snapshot.tokenEnd)
        #expect(end > time.now)
        #expect(try installation.owners() == .all(user))
    }

    @Test(arguments: [false, true])
    func `a wall clock from before the sign-in is not believed`(isRestarted: Bool) throws {
        let installation = try Installation()
        let time = try ShiftedTime(installation)
        try installation.startDaemon()
        let user = try installation.signInNewUser()

        if isRestarted { try installation.killDaemon() }
        time.setWall(by: .hours(-8))
        if isRestarted { try installation.startDaemon() }

        let snapshot = try installation.awaitSnapshot { $0.generation == 2 }
        let life = try #require(snapshot.tokenEnd).timeIntervalSince(time.now)
        #expect(life < 3_601)
        #expect(try installation.owners() == .all(user))
    }

    @Test func `a wall clock that was set forwards ends the token that it outlives`() throws {
        let installation = try Installation()
        let time = try ShiftedTime(installation)
        try installation.startDaemon()
        try installation.cloud.fault(["status": 503, "headers": ["Retry-After": "3600"]])
        let user = try installation.signInNewUser()
        let watcher = try installation.watch()

        time.setWall(by: .hours(2))

        #expect(try watcher.awaitSnapshot { $0.state == "tokenExpired" }.userId == user)
        #expect(try installation.connect().refusal("token.get").retryAfter ?? 0 >= 0)
    }
}
