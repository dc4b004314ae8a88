import Foundation
import JunctionClient
import JunctionTesting
import Synchronization
import Testing

/// Tests apps that keep one `JunctionClient` while the daemon restarts behind a socket that the service manager holds.
@Suite struct DaemonRestartTests {
    private static let (askers, watchers, restarts) = (10, 5, 5)

    @Test func `apps that request tokens all the time see no failure during restarts, and watchers continue`()
        async throws
    {
        let installation = try Installation()
        let listener = try installation.listen()
        try installation.startDaemon(kept: ["rpc": listener.descriptor])
        let user = try installation.signInNewUser()
        let socket = installation.socket
        let progress = Progress(of: Self.askers)

        let (asked, heard) = try await withThrowingTaskGroup { group in
            for number in 0..<Self.askers {
                group.addTask { try await Report.asked(Self.ask(JunctionClient(socket: socket), number, progress)) }
            }
            for _ in 0..<Self.watchers {
                group.addTask { try await Report.heard(Self.watch(JunctionClient(socket: socket))) }
            }
            for _ in 0..<Self.restarts {
                await progress.isMade(by: 5)
                try installation.stopDaemon()
                try installation.startDaemon(kept: ["rpc": listener.descriptor])
            }
            await progress.isMade(by: 5)
            progress.end()

            var (asked, heard): ([Int], [[String?]]) = ([], [])
            for try await report in group {
                switch report {
                case .asked(let count):
                    asked.append(count)
                    // All requesting apps have finished. The watchers receive the sign-out from the last daemon.
                    if asked.count == Self.askers { try installation.signOut() }
                case .heard(let users): heard.append(users)
                }
            }
            return (asked, heard)
        }

        #expect(asked.count == Self.askers)
        #expect(asked.allSatisfy { $0 >= 5 * (Self.restarts + 1) })
        #expect(heard.count == Self.watchers)
        #expect(heard.allSatisfy { $0.first == user && $0.last == .some(nil) })
    }

    private enum Report {
        case asked(Int)
        case heard([String?])
    }

    /// Requests the token and the state alternately until the end. Any failure ends the loop and fails the test.
    private static func ask(_ client: JunctionClient, _ number: Int, _ progress: Progress) async throws -> Int {
        defer { progress.end() }
        var count = 0
        while !progress.hasEnded {
            _ = try await client.accessToken()
            #expect(try await client.status().state == .established)
            count += 1
            progress.made(by: number)
        }
        return count
    }

    /// Returns the user of each snapshot, until no user is signed in.
    private static func watch(_ client: JunctionClient) async throws -> [String?] {
        var users: [String?] = []
        for try await snapshot in client.watch() {
            users.append(snapshot.userId)
            if snapshot.userId == nil { break }
        }
        return users
    }
}

/// Counts the requests of each app.
private final class Progress: Sendable {
    private struct State {
        var counts: [Int]
        var goal: (counts: [Int], reached: CheckedContinuation<Void, Never>)?
        var hasEnded = false
    }

    private let state: Mutex<State>

    init(of askers: Int) {
        state = Mutex(State(counts: Array(repeating: 0, count: askers)))
    }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    func end() {
        let reached = state.withLock { state in
            state.hasEnded = true
            defer { state.goal = nil }
            return state.goal?.reached
        }
        reached?.resume()
    }

    func made(by asker: Int) {
        let reached = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.counts[asker] += 1
            guard let goal = state.goal, zip(state.counts, goal.counts).allSatisfy({ $0 >= $1 }) else { return nil }
            state.goal = nil
            return goal.reached
        }
        reached?.resume()
    }

    /// Waits until every app has made `count` more requests, or until the end.
    func isMade(by count: Int) async {
        await withCheckedContinuation { reached in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.goal = (state.counts.map { $0 + count }, reached) }
                return state.hasEnded
            }
            if hasEnded { reached.resume() }
        }
    }
}
