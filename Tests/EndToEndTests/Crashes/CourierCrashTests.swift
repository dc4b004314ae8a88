import Foundation
import JunctionTesting
import Testing

/// SIGKILL for the courier at every step of a rotation: the daemon lives on, the login is still there, and the provider saw
/// no stolen token.
@Suite struct CourierCrashTests {
    private let installation: Installation
    private let user: String

    init() throws {
        installation = try Installation.started()
        user = try installation.signInNewUser()
    }

    @Test func `killed before the request leaves, the courier has spent nothing`() throws {
        let client = try installation.connect()
        // It is still there from the sign-in, and hears of the renewal, but does nothing about it any more.
        let courier = try installation.courier()
        courier.signal(SIGSTOP)
        _ = try client.request("session.renew")
        courier.signal(SIGKILL)

        try comesBack(replays: 0)
    }

    @Test func `killed while the provider has not rotated yet, the courier is replaced`() throws {
        try installation.cloud.fault(["hang": true, "times": 1])
        _ = try installation.connect().request("session.renew")
        try installation.cloud.wait(for: "hanging")
        try installation.courier().signal(SIGKILL)

        // The sandbox drops what nobody waits for any more, so the token was not spent.
        try comesBack(replays: 0)
    }

    @Test func `killed when the provider has rotated and before it answers, the token is sent again`() throws {
        try installation.cloud.fault(["hang": true, "times": 1])
        _ = try installation.connect().request("session.renew")
        try installation.cloud.wait(for: "hanging")
        let courier = try installation.courier()
        // Stopped, it holds the connection open and hears no answer.
        courier.signal(SIGSTOP)
        try installation.cloud.release()
        try installation.cloud.wait(for: "refreshes")
        courier.signal(SIGKILL)

        try comesBack(replays: 1)
    }

    @Test func `killed in the middle of the answer, the token is sent again`() throws {
        try installation.cloud.fault(["slowBody": 5, "times": 1])
        _ = try installation.connect().request("session.renew")
        try installation.cloud.wait(for: "refreshes")
        try installation.courier().signal(SIGKILL)

        try comesBack(replays: 1)
    }

    @Test func `killed ten times at whatever moment, the courier loses no login`() throws {
        for round in 0..<10 {
            let client = try installation.connect()
            _ = try client.request("session.renew")
            let other = try installation.connect()
            for _ in 0..<round { try other.call("daemon.info") }
            try? installation.courier().signal(SIGKILL)
            _ = try client.line()
        }
        // A renewal that failed would be answered with its failure for ten seconds.
        try installation.restartDaemon()

        #expect(try installation.owners() == .all(user))
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }

    @Test func `an API call that takes its network helper along does not meet the renewal under way`() throws {
        try installation.cloud.fault(["hang": true, "times": 1])
        _ = try installation.connect().request("session.renew")
        try installation.cloud.wait(for: "hanging")
        let session = try installation.courier().identifier
        try installation.cloud.fault(["match": "/v2/providers", "hang": true, "times": 1])
        let app = try installation.connect()
        let call = try app.request("api.request", ["method": "GET", "path": "/v2/providers"])
        try installation.cloud.wait(for: "hanging", atLeast: 2)

        let others = try installation.couriers().filter { $0.identifier != session }
        #expect(others.count == 1)
        for courier in others {
            courier.signal(SIGKILL)
            courier.awaitEnd()
        }

        #expect(try app.refusal(of: call).kind == "providerUnavailable")
        #expect(try installation.courier().identifier == session)
        try installation.cloud.release()
        try comesBack(replays: 0)
    }

    @Test func `the courier ends with its daemon, even when that is killed`() throws {
        try installation.cloud.fault(["hang": true, "times": 1])
        _ = try installation.connect().request("session.renew")
        try installation.cloud.wait(for: "hanging")
        let courier = try installation.courier()
        try installation.killDaemon()

        courier.awaitEnd()
    }

    @Test func `the courier ends with its daemon, even when it is stopped`() throws {
        try installation.cloud.fault(["hang": true, "times": 1])
        _ = try installation.connect().request("session.renew")
        try installation.cloud.wait(for: "hanging")
        let courier = try installation.courier()
        courier.signal(SIGSTOP)
        try installation.killDaemon()

        courier.awaitEnd()
    }

    private func comesBack(replays: Int) throws {
        let settled = try installation.awaitSnapshot { $0.generation == 2 }

        #expect(settled.userId == user)
        #expect(settled.state == "established")
        #expect(try installation.owners() == .all(user))
        let counters = try installation.cloud.counters()
        #expect(counters.integer("replays") == replays)
        #expect(counters.integer("familyRevocations") == 0)
    }
}
