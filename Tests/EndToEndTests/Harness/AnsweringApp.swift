import Foundation
import JunctionTesting
import Synchronization

/// A session handler that answers every question at once on its own thread.
final class AnsweringApp {
    private let client: RawClient
    private let answers: Answers

    /// - Parameter action: The answer: `renew` or `unableToRetrieveAuthToken`.
    init(_ installation: Installation, _ action: String) throws {
        client = try RawClient(installation.socket, patience: 3_600)
        answers = Answers(action)
        try client.call("handler.register")
        // From here on only the thread reads from the client, and this object only sends.
        nonisolated(unsafe) let client = client
        Thread.detachNewThread { [answers] in answers.give(to: client) }
    }

    var questions: Int { answers.questions.withLock(\.self) }

    /// Returns when the daemon has read the answers to all questions that it has asked.
    func catchUp() throws {
        // The first answer comes after the questions, the second one after the daemon has read the answers.
        for _ in 0..<2 {
            _ = try client.request("daemon.info")
            guard answers.turns.wait(timeout: .now() + .seconds(60)) == .success else {
                throw TestFailure(description: "The daemon did not answer a handler")
            }
        }
    }

    deinit { client.socket.closeConnection() }

    private final class Answers: Sendable {
        private let action: String
        let questions = Mutex(0)
        let turns = DispatchSemaphore(value: 0)

        init(_ action: String) {
            self.action = action
        }

        /// Answers questions until the connection closes.
        func give(to client: RawClient) {
            while let message = try? client.message() {
                guard message["method"] != nil, let question = message["id"] else {
                    turns.signal()
                    continue
                }
                questions.withLock { $0 += 1 }
                try? client.reply(to: question, ["action": action])
            }
        }
    }
}
