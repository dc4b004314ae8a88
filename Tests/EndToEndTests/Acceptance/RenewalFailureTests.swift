import Foundation
import JunctionTesting
import Testing

/// Tests of renewals and of their failures.
@Suite struct RenewalFailureTests {
    @Test func `a caller that disconnects cancels nothing`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()
        let watcher = try installation.watch()
        try installation.cloud.fault(["hang": true, "times": 1])
        do {
            let impatient = try installation.connect()
            _ = try impatient.request("session.renew")
            try installation.cloud.wait(for: "hanging")
        }

        try installation.cloud.release()

        #expect(try watcher.awaitSnapshot { $0.generation == 2 }.state == "established")
        #expect(try installation.cloud.counter("refreshes") == 1)
    }

    // MARK: What a refresh brings

    @Test func `the next renewal uses the rotated token, also after a restart`() throws {
        // Without a grace, a second use of a refresh token would end the family.
        let installation = try Installation.started(rotationGrace: 0)
        let user = try installation.signInNewUser()

        for round in 1...3 {
            let renewed = try installation.connect().call("session.renew")
            #expect(renewed.generation == round + 1)
            #expect(renewed.isDurable)
            try installation.restartDaemon()
            #expect(try installation.status().generation == round + 1)
        }

        let counters = try installation.cloud.counters()
        #expect(counters.integer("refreshes") == 3)
        #expect(counters.integer("replays") == 0)
        #expect(counters.integer("familyRevocations") == 0)
        #expect(try installation.status().userId == user)
    }

    static let oddAnswers = [
        #"{"expires_in": null}"#, #"{"expires_in": 0}"#, #"{"access_token": null}"#,
        #"{"access_token": "\#(String(repeating: "a", count: 17_000))"}"#,
    ]

    @Test(arguments: oddAnswers, [false, true])
    func `a rotated refresh token is used even if the rest of its answer is invalid, also after a crash`(
        members: String,
        crashes: Bool
    ) throws {
        // Without a grace, a second use of a refresh token would end the family.
        let installation = try Installation.started(rotationGrace: 0)
        let user = try installation.signInNewUser()
        let before = try installation.status().generation ?? 0
        let odd = try JSONSerialization.jsonObject(with: Data(members.utf8))
        try installation.cloud.fault(["tokenMembers": odd, "times": 1])
        // Make further renewals fail, so that the kill interrupts no rotation.
        if crashes { try installation.cloud.fault(["status": 503]) }

        let error = try installation.connect().refusal("session.renew")
        #expect(error.kind == "providerUnavailable")
        #expect(try installation.connect().call("token.get").accessToken != nil)
        if crashes {
            try installation.killDaemon()
            try installation.cloud.clearFaults()
            try installation.startDaemon()
            try installation.connect().call("session.renew")
        }
        let renewed = try installation.awaitSnapshot { ($0.generation ?? 0) > before }

        #expect(renewed.state == "established" && renewed.userId == user)
        let counters = try installation.cloud.counters()
        #expect(counters.integer("replays") == 0)
        #expect(counters.integer("familyRevocations") == 0)
    }

    // MARK: Failures

    @Test(arguments: [#"{"status": 503}"#, #"{"malformed": true}"#, #"{"drop": "after"}"#])
    func `an answer that is no verdict keeps the session and is retried`(failure: String) throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        var fault = try #require(try JSONSerialization.jsonObject(with: Data(failure.utf8)) as? Object)
        fault["times"] = 1
        try installation.cloud.fault(fault)
        let watcher = try installation.watch()

        let error = try installation.connect().refusal("session.renew")

        #expect(error.kind == "providerUnavailable")
        #expect((error.retryAfter ?? -1) > 0)
        let failed = try watcher.awaitSnapshot { $0.renewal["failures"] as? Int == 1 }
        #expect(failed.state == "established")
        #expect(failed.userId == user)
        #expect(failed.renewal["phase"] as? String == "backingOff")
        #expect((failed.renewal["lastError"] as? String)?.isEmpty == false)
        // The first retry delay is at most two seconds.
        let healed = try watcher.awaitSnapshot { $0.generation == 2 }
        #expect(healed.renewal["failures"] as? Int == 0)
        #expect(healed.renewal["phase"] as? String == "scheduled")
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }

    @Test func `two hundred callers around an expiry cause exactly one refresh`() throws {
        let installation = try Installation.started(accessTokenLifetime: 1)
        try installation.cloud.fault(["hang": true, "times": 1])
        let watcher = try installation.watch()
        try installation.signInNewUser()
        try watcher.awaitSnapshot { $0.state == "tokenExpired" }
        try installation.cloud.wait(for: "hanging")

        let callers = try ConcurrentCallers(installation, connections: 20, callsEach: 10)
        try installation.cloud.change(["accessTokenLifetime": 3_600])
        try installation.cloud.release()
        let answers = try callers.answers()

        #expect(answers.count == 200)
        #expect(Set(answers.map { $0.result?.accessToken }).count == 1)
        #expect(answers.allSatisfy { $0.result?.accessToken != nil })
        let counters = try installation.cloud.counters()
        #expect(counters.integer("refreshes") == 1)
        #expect(counters.integer("mostConcurrentTokenRequests") == 1)
    }

    @Test func `a valid token is served while the provider hangs`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()
        try installation.cloud.fault(["hang": true])
        let renewer = try installation.connect()
        let renewal = try renewer.request("session.renew")
        try installation.cloud.wait(for: "hanging")

        let token = try installation.token()

        #expect(token != nil)
        try installation.cloud.release()
        #expect(try renewer.answer(to: renewal).state == "established")
    }
}
