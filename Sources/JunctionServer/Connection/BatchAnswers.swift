import JunctionProtocol
import JunctionSecret
import NIOCore

/// The answers of one batch, which go out as one array when the last of them is known.
final class BatchAnswers {
    /// Each message of a batch costs a multiple of its bytes to answer.
    static let mostMessages = 1_000
    /// A batch is answered as a whole, so it is kept as a whole: past this, its further requests are not carried out.
    static let mostBytes = 1 << 20

    private var answers: [[UInt8]] = []
    /// What is kept until all of them are known.
    private(set) var bytes = 0
    // One more than the answers that are missing, until the whole batch has been read.
    private var missing = 1
    private var holdsNews = false

    /// Whether nothing more may be asked in this batch.
    var isFull: Bool { bytes > Self.mostBytes }

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
        if !connection.isClosed {
            var answer = ByteBuffer()
            write(&answer)
            answers.append(Array(answer.readableBytesView))
            bytes += answer.readableBytes
            connection.collected(answer.readableBytes)
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
        if !answers.isEmpty { connection.put { $0.appendBatch(answers) } }
        drop(connection)
        connection.batchEnded(self)
        releaseNews(of: connection)
    }

    /// Forgets what is kept: it is on its way, or nobody is left who would read it.
    func drop(_ connection: Connection) {
        for index in answers.indices { answers[index].withUnsafeMutableBytes { wipe($0) } }
        answers = []
        connection.collected(-bytes)
        bytes = 0
    }

    private func releaseNews(of connection: Connection) {
        guard holdsNews else { return }
        holdsNews = false
        connection.heldNews -= 1
        connection.dispatcher.watchers.catchUp(connection)
    }
}
