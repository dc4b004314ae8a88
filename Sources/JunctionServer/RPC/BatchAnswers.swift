import JunctionProtocol
import NIOCore

/// The answers of one batch, which go out as one array when the last of them is known.
final class BatchAnswers {
    /// Each message of a batch costs a multiple of its bytes to answer.
    static let mostMessages = 1_000
    /// A batch is answered as a whole, so it is kept as a whole: past this, its further requests are not carried out.
    static let mostBytes = 1 << 20

    private var answers: [Answer] = []
    /// What is kept until all of them are known, besides the bodies of API answers, which have an account of their own…
    private(set) var bytes = 0
    /// …and those.
    private var bodyBytes = 0
    // One more than the answers that are missing, until the whole batch has been read.
    private var missing = 1
    private var holdsNews = false
    /// When the bodies of API answers are given up: they take up space that others wait for.
    private var deadline: Scheduled<Void>?

    private struct Answer {
        var line: OutgoingLine
        /// What takes its place when its body is given up.
        var error: [UInt8]?
    }

    /// Whether nothing more may be asked in this batch.
    var isFull: Bool { bytes + bodyBytes > Self.mostBytes }

    /// Notification comes behind these answers, because the state that it follows is among them.
    func holdNews(of connection: Connection) {
        guard !holdsNews else { return }
        holdsNews = true
        connection.heldNews += 1
    }

    /// One more message will be answered.
    func expectAnswer() {
        missing += 1
    }

    /// Takes one of the answers, unless there is nobody left who would read it.
    func add(to connection: Connection, _ write: (inout [UInt8]) -> Void) {
        guard !connection.isClosed else { return oneLess(connection) }
        var answer: [UInt8] = []
        write(&answer)
        add(Answer(line: OutgoingLine(answer)), to: connection)
    }

    /// Takes the answer to a call of the API.
    ///
    /// - Parameter error: the answer instead, if the rest of the batch takes longer than `Patience.room`.
    func add(_ line: OutgoingLine, orAfterTooLong error: WireError, for id: RequestID, to connection: Connection) {
        var message: [UInt8] = []
        message.appendError(error, for: id)
        add(Answer(line: line, error: message), to: connection)
        guard missing > 0, deadline == nil, !connection.isClosed else { return }
        let batch = NIOLoopBound((self, connection), eventLoop: connection.eventLoop)
        deadline = connection.eventLoop.scheduleTask(in: TimeAmount(connection.dispatcher.patience.room)) {
            let (batch, connection) = batch.value
            batch.giveUpBodies(of: connection)
        }
    }

    private func add(_ answer: Answer, to connection: Connection) {
        if !connection.isClosed {
            answers.append(answer)
            count(answer.line, of: connection)
        }
        oneLess(connection)
    }

    private func count(_ line: OutgoingLine, of connection: Connection) {
        bytes += line.ownBytes
        bodyBytes += line.bodyBytes
        connection.collected(line.ownBytes)
    }

    private func giveUpBodies(of connection: Connection) {
        deadline = nil
        var givenUp: [OutgoingLine] = []
        for index in answers.indices {
            guard let error = answers[index].error else { continue }
            let line = answers[index].line
            bytes -= line.ownBytes
            bodyBytes -= line.bodyBytes
            connection.collected(-line.ownBytes)
            givenUp.append(line)
            answers[index] = Answer(line: OutgoingLine(error))
            count(answers[index].line, of: connection)
            connection.dispatcher.counters.count(.batchTooSlow)
        }
        // Last: the end of a body is the end of its request, of which the connection hears.
        for index in givenUp.indices { givenUp[index].drop() }
    }

    /// All messages have been read.
    func close(_ connection: Connection) {
        oneLess(connection)
    }

    private func oneLess(_ connection: Connection) {
        missing -= 1
        guard missing == 0 else { return }
        if !answers.isEmpty { connection.put(OutgoingLine(batch: answers.map(\.line))) }
        answers = []
        drop(connection)
        connection.batchEnded(self)
        releaseNews(of: connection)
    }

    /// Forgets what is kept: it is on its way, or nobody is left who would read it.
    func drop(_ connection: Connection) {
        deadline?.cancel()
        deadline = nil
        for index in answers.indices { answers[index].line.drop() }
        answers = []
        connection.collected(-bytes)
        (bytes, bodyBytes) = (0, 0)
    }

    private func releaseNews(of connection: Connection) {
        guard holdsNews else { return }
        holdsNews = false
        connection.heldNews -= 1
        connection.dispatcher.watchers.catchUp(connection)
    }
}

extension WireError {
    static let batchTooSlow = WireError(
        .busy,
        "The provider has answered, but the other calls of the batch took too long: make such a call by itself",
        remedy: "the call has been carried out: look before you make it again"
    )
}
