import JunctionJSON
import JunctionProtocol
import JunctionSession
import NIOCore

/// One call, from its arrival to its one answer: the connection that sent it, and the id to answer under.
struct Request {
    let connection: Connection
    /// The id; `nil` for a notification, which is carried out and never answered.
    let id: WireRequestID?
    /// The batch that contains the call, if any. Its answers are sent together.
    let batch: BatchAnswers?
    /// The bytes of the parameters.
    var size = 0

    var caller: Caller { connection.caller }

    /// Answers with a result that is already JSON.
    func succeed(with json: UnsafeRawBufferPointer) {
        put { $0.appendResult(json, for: $1) }
    }

    func succeed<Definition: MethodDefinition>(_: Definition.Type, _ answer: Definition.Answer) {
        put { $0.appendAnswer(of: Definition.self, answer, for: $1) }
    }

    func fail(_ error: WireError) {
        if id != nil { connection.dispatcher.counters.count(error) }
        put { $0.appendError(error, for: $1) }
    }

    /// Answers an API call. The body is written as the caller reads.
    func succeed(_ answer: WireApiAnswer, _ body: GatheredBody) {
        guard let id else { return body.end() }
        let line = OutgoingLine(answer, body, for: id)
        guard let batch else { return connection.sendLine(line) }
        batch.add(line, orAfterTooLong: .batchTooSlow, for: id, to: connection)
    }

    private func put(_ write: (inout [UInt8], WireRequestID) -> Void) {
        guard let id else { return }
        guard let batch else { return connection.sendLine { write(&$0, id) } }
        batch.add(to: connection) { write(&$0, id) }
    }
}

extension Request {
    /// Returns a function that answers the request later. Until then, the request counts as in flight.
    ///
    /// The function has to be called exactly once, on the event loop.
    func later<Definition: MethodDefinition>(
        _: Definition.Type
    ) -> @Sendable (Result<Definition.Answer, WireError>) -> Void {
        let pending = NIOLoopBound(PendingRequest(self), eventLoop: connection.eventLoop)
        return { result in
            pending.value.finish { request in
                switch result {
                case .success(let answer): request.succeed(Definition.self, answer)
                case .failure(let error): request.fail(error)
                }
            }
        }
    }
}

/// A request that is not answered yet, with which its caller's account is charged.
final class PendingRequest {
    let request: Request
    /// The bytes of the parameters and of the id, with which the account is charged.
    private let size: Int
    private var isAnswered = false

    init(_ request: Request) {
        self.request = Request(connection: request.connection, id: request.id?.detached, batch: request.batch)
        size = request.size + (request.id?.size ?? 0)
        request.connection.requestBegan(size)
    }

    func finish(_ answer: (Request) -> Void) {
        begin()
        answer(request)
        request.connection.requestEnded(size)
    }

    /// Answers with a body. The account is charged until the body was written.
    func finish(_ answer: WireApiAnswer, _ body: GatheredBody) {
        begin()
        body.whenOver = { [request, size, unowned body] in
            request.connection.bodyEnded(body)
            request.connection.requestEnded(size)
        }
        request.succeed(answer, body)
    }

    private func begin() {
        precondition(!isAnswered, "A request was answered twice")
        isAnswered = true
    }
}
