import JunctionProtocol
import NIOCore

/// The answers of one batch, which go out as one array when the last of them is known.
final class BatchAnswers {
    /// Each message of a batch costs a multiple of its bytes to answer.
    static let mostMessages = 1_000
    /// A batch is answered as a whole, so it is kept as a whole: past this, its further requests are not carried out.
    static let mostBytes = 1 << 20

    private var answers: [OutgoingLine] = []
    /// What is kept until all of them are known, besides the bodies of API answers, which have an account of their own…
    private(set) var bytes = 0
    /// …and those.
    private var bodyBytes = 0
    // One more than the answers that are missing, until the whole batch has been read.
    private var missing = 1
    private var holdsNews = false

    /// Whether nothing more may be asked in this batch.
    var isFull: Bool { bytes + bodyBytes > Self.mostBytes }

    /// News comes behind these answers, because the state that it follows is among them.
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
    func add(to connection: Connection, _ write: (inout ByteBuffer) -> Void) {
        guard !connection.isClosed else { return oneLess(connection) }
        var answer = ByteBuffer()
        write(&answer)
        add(OutgoingLine(Array(answer.readableBytesView)), to: connection)
    }

    /// The same for one that may have a body.
    func add(_ answer: OutgoingLine, to connection: Connection) {
        if !connection.isClosed {
            answers.append(answer)
            bytes += answer.ownBytes
            bodyBytes += answer.bodyBytes
            connection.collected(answer.ownBytes)
        }
        oneLess(connection)
    }

    /// All messages have been read.
    func close(_ connection: Connection) {
        oneLess(connection)
    }

    private func oneLess(_ connection: Connection) {
        missing -= 1
        guard missing == 0 else { return }
        if !answers.isEmpty { connection.put(OutgoingLine(batch: answers)) }
        answers = []
        drop(connection)
        connection.batchEnded(self)
        releaseNews(of: connection)
    }

    /// Forgets what is kept: it is on its way, or nobody is left who would read it.
    func drop(_ connection: Connection) {
        for index in answers.indices { answers[index].drop() }
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
