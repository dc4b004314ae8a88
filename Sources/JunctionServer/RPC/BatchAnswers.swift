import JunctionProtocol
import NIOCore

/// The answers of one batch. They are sent as one array when the last of them is known.
final class BatchAnswers {
    /// The most messages of a batch, because answering a message costs several times its bytes.
    static let mostMessages = 1_000
    /// The most bytes of a batch's answers, because the whole answer is kept until it is complete. Above this limit,
    /// the daemon does not carry out further requests of the batch.
    static let mostBytes = 1 << 20

    private var answers: [Answer] = []
    /// The bytes that are kept until all answers are known, without the bodies of API answers, which `AnswerBudget`
    /// counts.
    private(set) var bytes = 0
    /// The bytes of the bodies of API answers.
    private var bodyBytes = 0
    // The number of missing answers, plus one until the whole batch has been read.
    private var missing = 1
    private var holdsNews = false
    /// When the bodies of API answers are dropped. They occupy space that other answers wait for.
    private var deadline: Scheduled<Void>?

    private struct Answer {
        var line: OutgoingLine
        var error: [UInt8]?
    }

    /// Whether the daemon must not carry out further requests of this batch.
    var isFull: Bool { bytes + bodyBytes > Self.mostBytes }

    /// Sends notifications after these answers, because one of the answers contains the state that they follow.
    func delayNotifications(of connection: Connection) {
        guard !holdsNews else { return }
        holdsNews = true
        connection.heldNews += 1
    }

    /// Records that one more message will be answered.
    func expectAnswer() {
        missing += 1
    }

    /// Adds an answer, unless the connection is closed.
    func add(to connection: Connection, _ write: (inout [UInt8]) -> Void) {
        guard !connection.isClosed else { return oneLess(connection) }
        var answer: [UInt8] = []
        write(&answer)
        add(Answer(line: OutgoingLine(answer)), to: connection)
    }

    /// Adds the answer to an API call.
    ///
    /// - Parameter error: the answer to send instead if the rest of the batch takes longer than `Timeouts.room`.
    func add(_ line: OutgoingLine, orAfterTooLong error: WireError, for id: WireRequestID, to connection: Connection) {
        var message: [UInt8] = []
        message.appendError(error, for: id)
        add(Answer(line: line, error: message), to: connection)
        guard missing > 0, deadline == nil, !connection.isClosed else { return }
        let batch = NIOLoopBound((self, connection), eventLoop: connection.eventLoop)
        deadline = connection.eventLoop.scheduleTask(in: TimeAmount(connection.dispatcher.timeouts.room)) {
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
        // Last, because the end of a body ends its request, which changes the connection.
        for index in givenUp.indices { givenUp[index].drop() }
    }

    /// Records that an answer is known or is not needed, or that all messages of the batch have been read.
    func oneLess(_ connection: Connection) {
        missing -= 1
        guard missing == 0 else { return }
        if !answers.isEmpty { connection.sendLine(OutgoingLine(batch: answers.map(\.line))) }
        answers = []
        drop(connection)
        connection.batchEnded(self)
        sendDelayedNotifications(of: connection)
    }

    /// Drops all kept answers: they have been sent, or the peer has gone.
    func drop(_ connection: Connection) {
        deadline?.cancel()
        deadline = nil
        for index in answers.indices { answers[index].line.drop() }
        answers = []
        connection.collected(-bytes)
        (bytes, bodyBytes) = (0, 0)
    }

    private func sendDelayedNotifications(of connection: Connection) {
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
        remedy: checkEffect
    )
}
