import Foundation
import JunctionTesting
import Testing

/// SIGKILL between any two steps of a rotation: the login is still there, and the provider saw no stolen token.
@Suite struct RotationCrashTests {
    /// A step, how often it is reached before the end, and what the restart has to do at the provider.
    struct Point: CustomTestStringConvertible, Sendable {
        var step: String
        var occurrence: Int
        /// The provider had rotated and the answer was gone: the old refresh token was sent again.
        var isReplayed = false
        /// The rotation was over, or its outcome was on disk: nothing had to be asked again.
        var isDone = false

        var testDescription: String { "\(step):\(occurrence)" }
    }

    /// A renewal writes twice: the intent, and then the new generation.
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
        // The start puts what it restored in its place too.
        Point(step: "swapped", occurrence: 2, isDone: true),
    ]

    @Test(arguments: points)
    func `a daemon killed at a step of a rotation comes back signed in`(point: Point) throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        try installation.restartDaemon(["JUNCTIOND_CRASH_POINT": point.testDescription])
        try installation.renewAndDie()

        try installation.startDaemon()
        let restored = try installation.status()
        let client = try installation.connect()
        let token = try client.call("token.get")
        // What is replayed is replayed at once, so this is not long in coming.
        let settled = try installation.awaitSnapshot { $0.generation == 2 }

        for snapshot in [restored, settled] {
            #expect(snapshot.userId == user)
            #expect(snapshot.state == "established")
            #expect(snapshot.isDurable)
        }
        #expect(token.userId == user)
        #expect(try installation.cloud.owner(of: token.accessToken) == user)
        // The refresh token in hand is the right one.
        #expect(try installation.owners() == .all(user))
        let counters = try installation.cloud.counters()
        #expect(counters.integer("familyRevocations") == 0)
        #expect(counters.integer("replays") == (point.isReplayed ? 1 : 0))
        #expect(counters.integer("refreshes") == (point.isReplayed ? 3 : 2))
        if point.isDone { #expect(restored.generation == 2) }
    }

    @Test(arguments: [1, 2, 3])
    func `every later rotation is as safe as the first`(generation: Int) throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()

        for step in ["answered", "renamed"] {
            try installation.restartDaemon(["JUNCTIOND_CRASH_POINT": "\(step):\(generation)"])
            try installation.renewAndDie()
        }
        try installation.startDaemon()

        #expect(try installation.owners() == .all(user))
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }

    @Test func `a crash after the provider lost its answer is repaired by sending the same token again`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        try installation.cloud.fault(["drop": "after", "times": 1])
        let client = try installation.connect()
        #expect(try client.refusal("session.renew").kind == "providerUnavailable")

        try installation.restartDaemon()

        #expect(try installation.awaitSnapshot { $0.generation == 2 }.userId == user)
        #expect(try installation.owners() == .all(user))
        let counters = try installation.cloud.counters()
        // The kill may have met the daemon's own second try.
        #expect((1...2).contains(counters.integer("replays")))
        #expect(counters.integer("familyRevocations") == 0)
    }

    @Test func `crashes in a row, each of which loses an answer, still lose no login`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        try installation.cloud.fault(["drop": "after", "times": 3])
        for round in 1...3 {
            // The first asks itself; the restarts find the open intent and ask at once.
            if round == 1 { _ = try installation.connect().request("session.renew") }
            try installation.cloud.wait(for: "dropped", atLeast: round)
            try installation.killDaemon()
            try installation.startDaemon()
        }

        #expect(try installation.awaitSnapshot { $0.generation == 2 }.userId == user)
        #expect(try installation.owners() == .all(user))
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }

    @Test func `killed twenty times at whatever moment, the daemon still has the login`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()

        for round in 0..<20 {
            let client = try installation.connect()
            _ = try client.request("session.renew")
            // Each round a little further into the rotation; each answer means that the daemon has turned its loop.
            for _ in 0..<round { try client.call("daemon.info") }
            try installation.restartDaemon()
            #expect(try installation.status().userId == user)
        }

        #expect(try installation.owners() == .all(user))
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }

    @Test func `after a reported success a crash changes nothing`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()
        for round in 1...5 {
            let renewed = try installation.connect().call("session.renew")
            try installation.killDaemon()
            try installation.startDaemon()
            let status = try installation.status()
            #expect(renewed.isDurable)
            #expect(status.generation == renewed.generation)
            #expect(try installation.cloud.counter("refreshes") == round)
        }
    }
}

extension Installation {
    /// Asks for a renewal until the daemon ends at its crash point.
    func renewAndDie() throws {
        let client = try connect()
        while try isAnswered(client, "session.renew") {}
        let ending = try daemon?.wait()
        guard ending?.wasKilled == true else {
            throw Program.Failure(description: "The daemon was not killed: \(ending?.errors ?? "")")
        }
    }

    /// Whether an answer came, rather than the end.
    func isAnswered(_ client: RawClient, _ method: String, _ params: Object? = nil) throws -> Bool {
        _ = try client.request(method, params)
        return try client.line() != nil
    }
}
