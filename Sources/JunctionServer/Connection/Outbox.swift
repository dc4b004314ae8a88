import JunctionProtocol
import NIOCore

/// What is to go out next, and where the last answer ends in all that ever went out: behind that there is only news.
struct Outbox {
    private(set) var buffer = ByteBuffer()
    /// Where in the buffer the last answer ends.
    private var answersEndInBuffer = 0
    /// What was ever sent, or given to the network library.
    private var given = 0
    /// Where in that the last answer ends.
    private var answersEnd = 0

    /// Bytes that have not been given away yet.
    var count: Int { buffer.readableBytes }

    /// Adds an answer or a question with its line feed, in memory that `room` lends where there is none.
    mutating func put(in room: () -> ByteBuffer, _ write: (inout ByteBuffer) -> Void) {
        if buffer.capacity == 0 { buffer = room() }
        write(&buffer)
        answersEndInBuffer = count
    }

    /// Adds news, which may be told to many.
    mutating func post(_ line: ByteBuffer) { buffer.writeImmutableBuffer(line) }

    /// Hands out all of it. What is put while that goes out comes behind it.
    mutating func take() -> ByteBuffer {
        var bytes = ByteBuffer()
        swap(&bytes, &buffer)
        if answersEndInBuffer > 0 { answersEnd = given + answersEndInBuffer }
        answersEndInBuffer = 0
        return bytes
    }

    /// So much is with the kernel now, or with the network library.
    mutating func gave(_ bytes: Int) { given += bytes }

    /// What the kernel has taken, when the network library still has so much.
    func taken(butFor queued: Int) -> Int { given - queued }

    /// Whether there is an answer in what the network library still has.
    func owesAnswers(in queued: Int) -> Bool { answersEnd > taken(butFor: queued) }
}
