import Foundation
import JunctionTesting
import Testing

/// Kills the network helper at every step of a rotation. The daemon keeps running and keeps the login, and the provider
/// detects no token reuse.
@Suite struct HelperCrashTests {
    private let installation: Installation
    private let user: String

    init() throws {
        installation = try Installation.started()
        user = try installation.signInNewUser()
    }

    @Test func `a network helper killed before it sends the request has spent nothing`() throws {
        let client = try installation.connect()
        // The network helper still runs after the sign-in. Stopped, it receives the renewal but does not send it.
        let helper = try installation.helper()
        helper.signal(SIGSTOP)
        _ = try client.request("session.renew")
        helper.signal(SIGKILL)

        try comesBack(replays: 0)
    }

    @Test func `a network helper killed before the provider has rotated is replaced`() throws {
        try renewWithoutAnswer()
        try installation.helper().signal(SIGKILL)

        // The sandbox drops a request whose client has disconnected, so the token was not spent.
        try comesBack(replays: 0)
    }

    @Test func `after a kill between rotation and answer, the token is sent again`() throws {
        try renewWithoutAnswer()
        let helper = try installation.helper()
        // The stopped network helper keeps the connection open and does not read the answer.
        helper.signal(SIGSTOP)
        try installation.cloud.release()
        try installation.cloud.wait(for: "refreshes")
        helper.signal(SIGKILL)

        try comesBack(replays: 1)
    }

    @Test func `after a kill in the middle of the answer, the token is sent again`() throws {
        try installation.cloud.fault(["slowBody": 5, "times": 1])
        _ = try installation.connect().request("session.renew")
        try installation.cloud.wait(for: "refreshes")
        try installation.helper().signal(SIGKILL)

        try comesBack(replays: 1)
    }

    @Test func `ten kills of the network helper at different times lose no login`() throws {
        for round in 0..<10 {
            let client = try installation.connect()
            _ = try client.request("session.renew")
            let other = try installation.connect()
            for _ in 0..<round { try other.call("daemon.info") }
            try? installation.helper().signal(SIGKILL)
            _ = try client.line()
        }
        // Without a restart, the daemon would repeat a failed renewal's error for ten seconds.
        try installation.restartDaemon()

        #expect(try installation.owners() == .all(user))
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }

    @Test func `an API call that crashes its network helper does not affect a renewal in progress`() throws {
        try renewWithoutAnswer()
        let session = try installation.helper().identifier
        try installation.cloud.fault(["match": "/v2/providers", "hang": true, "times": 1])
        let app = try installation.connect()
        let call = try app.request("api.request", ["method": "GET", "path": "/v2/providers"])
        try installation.cloud.wait(for: "hanging", atLeast: 2)

        let others = try installation.helpers().filter { $0.identifier != session }
        #expect(others.count == 1)
        for helper in others {
            helper.signal(SIGKILL)
            helper.awaitEnd()
        }

        #expect(try app.refusal(of: call).kind == "providerUnavailable")
        #expect(try installation.helper().identifier == session)
        try installation.cloud.release()
        try comesBack(replays: 0)
    }

    @Test func `the network helper ends with its daemon, even if the daemon is killed`() throws {
        try renewWithoutAnswer()
        let helper = try installation.helper()
        try installation.killDaemon()

        helper.awaitEnd()
    }

    @Test func `the network helper ends with its daemon, even if the helper is stopped`() throws {
        try renewWithoutAnswer()
        let helper = try installation.helper()
        helper.signal(SIGSTOP)
        try installation.killDaemon()

        helper.awaitEnd()
    }

    /// Requests a renewal and waits until the provider has the request, which it does not answer.
    private func renewWithoutAnswer() throws {
        try installation.cloud.fault(["hang": true, "times": 1])
        _ = try installation.connect().request("session.renew")
        try installation.cloud.wait(for: "hanging")
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
