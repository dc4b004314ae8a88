import JunctionJSON
import JunctionProtocol
import JunctionSession
import NIOCore

/// One call from arrival to its one answer: who asked, and where the answer belongs.
struct Request {
    let connection: Connection
    /// Absent for a notification, which is carried out and never answered.
    let id: JunctionProtocol.RequestID?
    /// The batch that it came in, and whose answers go out together.
    let batch: BatchAnswers?
    /// The bytes of the call and of the id: its caller is charged with them while the answer is not known.
    var size = 0

    var caller: Caller { connection.caller }

    /// Answers with a result that is JSON already.
    func succeed(with json: UnsafeRawBufferPointer) {
        put { $0.appendResult(json, for: $1) }
    }

    /// Answers with what the method answers.
    func succeed<Definition: MethodDefinition>(_: Definition.Type, _ answer: Definition.Answer) {
        put { $0.appendAnswer(of: Definition.self, answer, for: $1) }
    }

    /// Answers with an error.
    func fail(_ error: WireError) {
        if id != nil { connection.dispatcher.counters.count(error) }
        put { $0.appendError(error, for: $1) }
    }

    /// Answers a call of the API, whose body is written while the caller reads.
    func succeed(_ answer: JunctionProtocol.ApiAnswer, _ body: GatheredBody) {
        guard let id else { return body.end() }
        let line = OutgoingLine(answer, body, for: id)
        guard let batch else { return connection.put(line) }
        batch.add(line, orAfterTooLong: .batchTooSlow, for: id, to: connection)
    }

    private func put(_ write: (inout [UInt8], JunctionProtocol.RequestID) -> Void) {
        guard let id else { return }
        guard let batch else { return connection.put { write(&$0, id) } }
        batch.add(to: connection) { write(&$0, id) }
    }
}

extension Request {
    /// Takes the request along until its answer is known; until then it counts as in flight.
    ///
    /// What is returned has to be called exactly once, on the event loop.
    func later<Definition: MethodDefinition>(
        _: Definition.Type,
        onSuccess: @escaping (Definition.Answer) -> Void = { _ in }
    ) -> @Sendable (Result<Definition.Answer, SessionError>) -> Void {
        let answer = laterOrDenied(Definition.self, onSuccess: onSuccess)
        return { answer($0.mapError(WireError.init)) }
    }

    /// The same, for an answer that may also be an error of the socket's own.
    func laterOrDenied<Definition: MethodDefinition>(
        _: Definition.Type,
        onSuccess: @escaping (Definition.Answer) -> Void = { _ in }
    ) -> @Sendable (Result<Definition.Answer, WireError>) -> Void {
        let pending = NIOLoopBound((PendingRequest(self), onSuccess), eventLoop: connection.eventLoop)
        return { result in
            let (pending, onSuccess) = pending.value
            pending.settle { request in
                switch result {
                case .success(let answer):
                    onSuccess(answer)
                    request.succeed(Definition.self, answer)
                case .failure(let error):
                    request.fail(error)
                }
            }
        }
    }
}

/// A request that is not answered yet, and weighs on its caller's account.
final class PendingRequest {
    let request: Request
    private var isSettled = false

    init(_ request: Request) {
        let (connection, size) = (request.connection, request.size)
        self.request = Request(connection: connection, id: request.id?.detached, batch: request.batch, size: size)
        connection.requestBegan(size)
    }

    /// Answers it.
    func settle(_ answer: (Request) -> Void) {
        begin()
        answer(request)
        request.connection.requestEnded(request.size)
    }

    /// Answers it with a body, which weighs on the account until it was written.
    func settle(_ answer: JunctionProtocol.ApiAnswer, _ body: GatheredBody) {
        begin()
        body.whenOver = { [request, unowned body] in
            request.connection.bodyEnded(body)
            request.connection.requestEnded(request.size)
        }
        request.succeed(answer, body)
    }

    private func begin() {
        precondition(!isSettled, "A request was answered twice")
        isSettled = true
    }
}
