import Foundation
import JunctionTesting
import Synchronization

/// A session handler that answers every question at once, on a thread of its own: for tests that do not say when it is
/// asked.
final class AnsweringApp {
    private let client: RawClient
    private let answers: Answers

    /// - Parameter action: what it answers: `renew`, or `unableToRetrieveAuthToken`.
    init(_ installation: Installation, _ action: String) throws {
        client = try RawClient(installation.socket, patience: 3_600)
        answers = Answers(action)
        try client.call("handler.register")
        // From here on the thread reads, and this only sends.
        nonisolated(unsafe) let client = client
        Thread.detachNewThread { [answers] in answers.give(to: client) }
    }

    /// What it answers from now on.
    func change(to action: String) {
        answers.state.withLock { $0.action = action }
    }

    /// How often it has been asked.
    var questions: Int { answers.state.withLock { $0.questions } }

    /// Returns when the daemon has heard the answers to all that it had asked by now.
    func catchUp() throws {
        // The first comes after the questions, the second after the answers.
        for _ in 0..<2 {
            _ = try client.request("daemon.info")
            guard answers.turns.wait(timeout: .now() + .seconds(60)) == .success else {
                throw Program.Failure(description: "The daemon did not answer a handler")
            }
        }
    }

    deinit { client.socket.hangUp() }

    private final class Answers: Sendable {
        struct State {
            var action: String
            var questions = 0
        }

        let state: Mutex<State>
        let turns = DispatchSemaphore(value: 0)

        init(_ action: String) {
            state = Mutex(State(action: action))
        }

        /// Until the daemon goes away, or the app does.
        func give(to client: RawClient) {
            while let message = try? client.message() {
                guard message["method"] != nil, let question = message["id"] else {
                    turns.signal()
                    continue
                }
                let action = state.withLock { state in
                    state.questions += 1
                    return state.action
                }
                try? client.reply(to: question, ["action": action])
            }
        }
    }
}
