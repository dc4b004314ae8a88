import Foundation
import JunctionTesting
import Testing

/// The wall clock is set while a token is on its way: the token's life is as long as the provider says.
@Suite struct ClockStepTests {
    enum Grant: String, CaseIterable, CustomTestStringConvertible, Sendable {
        case signIn
        case renewal

        var testDescription: String { rawValue }
    }

    @Test(arguments: Grant.allCases, [false, true])
    func `a clock that steps back during a request prolongs no token's life`(grant: Grant, isRestarted: Bool) throws {
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
}
