import JunctionJSON
import JunctionProtocol
import NIOCore

/// The daemon's own requests on one connection, and the functions that wait for the answers.
final class ClientQuestions {
    private let eventLoop: any EventLoop
    private var lastId: Int64 = 0
    private var waiting: [Int64: Question] = [:]

    private struct Question {
        let deadline: Scheduled<Void>?
        let finish: (Result<JSONValue, QuestionFailure>) -> Void
    }

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// Registers a question that is about to be sent, and returns its id.
    func expectAnswer<Definition: MethodDefinition>(
        to _: Definition.Type,
        within time: TimeAmount?,
        _ answer: @escaping (Result<Definition.Answer, QuestionFailure>) -> Void
    ) -> Int64 {
        lastId += 1
        let id = lastId
        let questions = NIOLoopBound(self, eventLoop: eventLoop)
        let deadline = time.map { time in
            eventLoop.scheduleTask(in: time) { questions.value.finish(id, .failure(.silence)) }
        }
        waiting[id] = Question(deadline: deadline) { result in
            answer(
                result.flatMap { value in
                    do throws(WireMismatch) {
                        return .success(try Definition.Answer(reading: value))
                    } catch {
                        return .failure(.malformed(error))
                    }
                }
            )
        }
        return id
    }

    /// Passes an answer of the peer to the function that waits for it. An answer that no function waits for is dropped.
    func received(_ answer: Response) {
        guard let id = answer.id.number else { return }
        finish(id, answer.outcome.mapError(QuestionFailure.refused))
    }

    /// Withdraws a question. If the answer comes, it is dropped.
    func withdraw(_ id: Int64) {
        waiting.removeValue(forKey: id)?.deadline?.cancel()
    }

    /// Fails all open questions: no answer can come any more.
    func failAll(_ failure: QuestionFailure) {
        for id in waiting.keys.sorted() { finish(id, .failure(failure)) }
    }

    private func finish(_ id: Int64, _ result: Result<JSONValue, QuestionFailure>) {
        guard let question = waiting.removeValue(forKey: id) else { return }
        question.deadline?.cancel()
        question.finish(result)
    }
}

/// Why a question to the peer brought no answer.
enum QuestionFailure: Error {
    case refused(WireError)
    case malformed(WireMismatch)
    case silence
    case connectionClosed
}
