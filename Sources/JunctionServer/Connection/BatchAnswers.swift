import JunctionProtocol
import JunctionSecret
import NIOCore

/// The answers of one batch, which go out as one array when the last of them is known.
final class BatchAnswers {
    /// Each message of a batch costs a multiple of its bytes to answer.
    static let mostMessages = 1_000

    private var answers: [[UInt8]] = []
    // One more than the answers that are missing, until the whole batch has been read.
    private var missing = 1

    /// One more message will be answered.
    func expectAnswer() {
        missing += 1
    }

    func add(_ answer: ByteBuffer, to connection: Connection) {
        answers.append(Array(answer.readableBytesView))
        oneLess(connection)
    }

    /// All messages have been read.
    func close(_ connection: Connection) {
        oneLess(connection)
    }

    private func oneLess(_ connection: Connection) {
        missing -= 1
        guard missing == 0, !answers.isEmpty else { return }
        connection.put { $0.appendBatch(answers) }
        for index in answers.indices { answers[index].withUnsafeMutableBytes { wipe($0) } }
        answers = []
    }
}
