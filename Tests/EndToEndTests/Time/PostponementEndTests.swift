import Foundation
import JunctionTesting
import Testing

/// Tests the end of the ten minutes after `unableToRetrieveAuthToken`, with an expired token and no session handler.
@Suite struct PostponementEndTests {
    @Test(arguments: [false, true])
    func `after a postponement the renewal waits for a handler and asks the first one`(isRestarted: Bool) throws {
        let installation = try Installation(
            accessTokenLifetime: 300,
            configuration: "[renewal]\nmode = \"handler\""
        )
        let time = try ShiftedTime(installation)
        try installation.startDaemon()
        let user = try installation.signInNewUser()
        do {
            let unable = try RenewingApp(installation)
            let refusal = try unable.refusedRenewal(answering: ["action": "unableToRetrieveAuthToken"])
            #expect(refusal.kind == "providerUnavailable")
            try unable.client.call("handler.unregister")
        }
        #expect(try installation.status().phase == "postponed")

        let resumed = time.now.addingTimeInterval(12 * 60 - 1)
        time.advance(by: .minutes(12))
        if isRestarted { try installation.restartDaemon() }

        let waiting = try installation.awaitSnapshot { $0.phase == "waitingForHandler" }
        #expect(waiting.state == "tokenExpired")
        #expect(waiting.notBefore.map { $0 > resumed } ?? true)
        let refusal = try installation.connect().refusal("token.get")
        #expect(refusal.code == 1010)
        #expect(refusal.kind == "tokenExpired")
        #expect((refusal.retryAfter ?? 0) >= 0)
        let question = try RenewingApp(installation).answer(["action": "renew"])
        #expect(question["userId"] as? String == user)
        #expect(try installation.awaitSnapshot { $0.generation == 2 }.userId == user)
        #expect(try installation.cloud.owner(of: installation.token()) == user)
    }
}
