import Foundation
import JunctionTesting
import Testing

/// Kills the daemon between any two steps of a rotation. The login survives, and the provider detects no token reuse.
@Suite struct RotationCrashTests {
    /// A step, how often the daemon reaches it before the kill, and what the restart must do at the provider.
    struct Point: CustomTestStringConvertible, Sendable {
        var step: String
        var occurrence: Int
        /// The provider had rotated and the answer was lost, so the restart sends the old refresh token again.
        var isReplayed = false
        /// The outcome was on disk, so the restart sends nothing.
        var isDone = false

        var testDescription: String { "\(step):\(occurrence)" }
    }

    /// A renewal writes twice: first the intent, then the new generation.
    static let points = [
        Point(step: "temporaryWritten", occurrence: 1),
        Point(step: "temporarySynced", occurrence: 1),
        Point(step: "renamed", occurrence: 1),
        Point(step: "directorySynced", occurrence: 1),
        Point(step: "intentNoted", occurrence: 1),
        Point(step: "answered", occurrence: 1, isReplayed: true),
        Point(step: "temporaryWritten", occurrence: 2, isDone: true),
        Point(step: "temporarySynced", occurrence: 2, isDone: true),
        Point(step: "renamed", occurrence: 2, isDone: true),
        Point(step: "directorySynced", occurrence: 2, isDone: true),
        // The start reaches this step too, for the restored session.
        Point(step: "swapped", occurrence: 2, isDone: true),
    ]

    @Test(arguments: points)
    func `a daemon killed at a step of a rotation is signed in after a restart`(point: Point) throws {
        let installation = try Installation.started()
        try killed(at: point, installation) {
            try installation.renewAndDie()
        } settles: {
            // The present refresh token is the right one.
            try installation.owners()
        }
    }

    @Test(arguments: points)
    func `a rotation that a handler allowed is completed without any handler`(point: Point) throws {
        let installation = try Installation.junctionWithHandlers()
        try killed(at: point, installation) {
            let allowing = try AnsweringApp(installation, "renew")
            try installation.renewAndDie()
            #expect(allowing.questions == 1)
        } settles: {
            let app = try AnsweringApp(installation, "renew")
            defer { #expect(app.questions == 1) }
            return try installation.owners()
        }
    }

    private func killed(
        at point: Point,
        _ installation: Installation,
        during rotation: () throws -> Void,
        settles owners: () throws -> Owners
    ) throws {
        let user = try installation.signInNewUser()
        try installation.restartDaemon(["JUNCTIOND_CRASH_POINT": point.testDescription])
        try rotation()

        try installation.startDaemon()
        let restored = try installation.status()
        let token = try installation.connect().call("token.get")
        // The daemon replays at once, so this takes no time.
        let settled = try installation.awaitSnapshot { $0.generation == 2 }

        for snapshot in [restored, settled] {
            #expect(snapshot.userId == user)
            #expect(snapshot.state == "established")
            #expect(snapshot.isDurable)
        }
        #expect(token.userId == user)
        #expect(try installation.cloud.owner(of: token.accessToken) == user)
        #expect(try owners() == .all(user))
        let counters = try installation.cloud.counters()
        #expect(counters.integer("familyRevocations") == 0)
        #expect(counters.integer("replays") == (point.isReplayed ? 1 : 0))
        #expect(counters.integer("refreshes") == (point.isReplayed ? 3 : 2))
        if point.isDone { #expect(restored.generation == 2) }
    }

    @Test(arguments: [1, 2, 3])
    func `a kill during any later rotation loses no login`(occurrence: Int) throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()

        for step in ["answered", "renamed"] {
            try installation.restartDaemon(["JUNCTIOND_CRASH_POINT": "\(step):\(occurrence)"])
            try installation.renewAndDie()
        }
        try installation.startDaemon()

        #expect(try installation.owners() == .all(user))
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }

    @Test func `repeated crashes that each lose an answer lose no login`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        try installation.cloud.fault(["drop": "after", "times": 3])
        for round in 1...3 {
            // In the first round the test asks for the renewal. Later the restart finds the open intent and sends at
            // once.
            if round == 1 { _ = try installation.connect().request("session.renew") }
            try installation.cloud.wait(for: "dropped", atLeast: round)
            try installation.killDaemon()
            try installation.startDaemon()
        }

        #expect(try installation.awaitSnapshot { $0.generation == 2 }.userId == user)
        #expect(try installation.owners() == .all(user))
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }

    @Test func `a lost answer is replayed after the handler that allowed the rotation has gone`() throws {
        let installation = try Installation.junctionWithHandlers()
        let user = try installation.signInNewUser()
        try installation.cloud.fault(["drop": "after", "times": 1])
        do {
            let app = try RenewingApp(installation)
            let caller = try installation.connect()
            let renewal = try caller.request("session.renew")
            try app.answer(["action": "renew"])
            try app.client.call("handler.unregister")
            #expect(try caller.refusal(of: renewal).kind == "providerUnavailable")
        }

        try installation.awaitSnapshot { $0.generation == 2 }

        let app = try AnsweringApp(installation, "renew")
        #expect(try installation.owners() == .all(user))
        #expect(app.questions == 1)
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }

    @Test func `a daemon killed twenty times at different times keeps the login`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()

        for round in 0..<20 {
            let client = try installation.connect()
            _ = try client.request("session.renew")
            // Each round waits for more answers and so kills the daemon later in the rotation.
            for _ in 0..<round { try client.call("daemon.info") }
            try installation.restartDaemon()
            #expect(try installation.status().userId == user)
        }

        #expect(try installation.owners() == .all(user))
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }
}

extension Installation {
    /// Repeats the renewal until the daemon ends at its crash point.
    func renewAndDie() throws {
        let client = try connect()
        while try isAnswered(client, "session.renew") {}
        let ending = try daemon?.wait()
        guard ending?.wasKilled == true else {
            throw TestFailure(description: "The daemon was not killed: \(ending?.errors ?? "")")
        }
    }

    /// Returns whether the daemon answers the request instead of closing the connection.
    func isAnswered(_ client: RawClient, _ method: String, _ params: Object? = nil) throws -> Bool {
        _ = try client.request(method, params)
        return try client.line() != nil
    }
}
