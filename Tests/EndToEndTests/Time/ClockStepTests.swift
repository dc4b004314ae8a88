import Foundation
import JunctionTesting
import Testing

/// Tests of clock changes and of suspends. The daemon detects them, and a token lives as long as the provider says.
@Suite struct ClockStepTests {
    enum Grant: String, CaseIterable, CustomTestStringConvertible, Sendable {
        case signIn
        case renewal

        var testDescription: String { rawValue }
    }

    @Test(arguments: Grant.allCases, [false, true])
    func `a clock set back during a request does not prolong a token's life`(grant: Grant, isRestarted: Bool) throws {
        let installation = try Installation(accessTokenLifetime: 3_600)
        let time = try ShiftedTime(installation)
        try installation.startDaemon()
        let caller = try installation.connect()
        let user = try installation.cloud.makeUser()
        if grant == .renewal { try installation.signIn(user) }
        try installation.cloud.fault(["match": "/v1/token", "hang": true, "times": 1])
        switch grant {
        case .signIn: _ = try caller.request("session.signIn", installation.cloud.credential(for: user))
        case .renewal: _ = try caller.request("session.renew")
        }
        try installation.cloud.wait(for: "hanging")

        time.setWall(by: .hours(-8))
        try installation.cloud.release()
        try installation.awaitSnapshot { ($0.generation ?? 0) >= (grant == .signIn ? 1 : 2) }
        if isRestarted { try installation.restartDaemon() }

        let snapshot = try installation.status()
        let life = try #require(snapshot.tokenEnd).timeIntervalSince(time.now)
        #expect(snapshot.userId == user)
        // The daemon's times are whole milliseconds.
        #expect(life < 3_601)
        let token = try installation.token()
        time.advance(by: .hours(1))
        let isServedStill = try installation.token() == token
        #expect(!isServedStill)
        #expect(try installation.owners() == .all(user))
    }

    @Test func `a renewal that became due during a suspend starts at the resume`() throws {
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
    func `a wall clock before the sign-in time is not trusted`(isRestarted: Bool) throws {
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

    @Test func `a wall clock that is set past a token's expiry ends the token`() throws {
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
