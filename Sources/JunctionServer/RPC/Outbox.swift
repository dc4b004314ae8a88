import JunctionProtocol
import NIOCore

/// What is to go out next, and where the last answer ends in all that ever went out: behind that there is only notification.
///
/// The bodies of API answers are not written before the peer reads: what is put behind one waits until it is written.
struct Outbox {
    private(set) var buffer: [UInt8] = []
    /// What goes out behind the buffer. It begins with a body, if there is anything.
    private var behind = CircularBuffer<Segment>()
    /// How many bytes of it are not bodies.
    private var bytesBehind = 0
    /// Where in the buffer the last answer ends.
    private var answersEndInBuffer = 0
    /// What was ever sent, or given to the network library.
    private var given = 0
    /// Where in that the last answer ends.
    private var answersEnd = 0

    private enum Segment {
        case bytes([UInt8])
        case body(GatheredBody)
    }

    /// Bytes that can be given away next.
    var count: Int { buffer.count }
    /// The same, and those that wait behind a body.
    var unsent: Int { count + bytesBehind }
    /// Whether a body is to be written before anything else can be given away.
    var hasBody: Bool { !behind.isEmpty }

    /// Adds an answer or a question with its line feed, in memory that `room` lends where there is none.
    mutating func put(in room: () -> [UInt8], _ write: (inout [UInt8]) -> Void) {
        guard behind.isEmpty else { return putBehind(write) }
        if buffer.capacity == 0 { buffer = room() }
        write(&buffer)
        answersEndInBuffer = count
    }

    private mutating func putBehind(_ write: (inout [UInt8]) -> Void) {
        var bytes: [UInt8] = []
        if case .bytes(let last)? = behind.last {
            bytes = last
            behind.removeLast()
        }
        bytesBehind -= bytes.count
        write(&bytes)
        bytesBehind += bytes.count
        behind.append(.bytes(bytes))
    }

    /// Adds a body as the content of a JSON string.
    mutating func put(_ body: GatheredBody) { behind.append(.body(body)) }

    /// Writes more of the first body to the buffer, in memory that `room` lends where there is none.
    ///
    /// - Returns: the body, when all of it is written. What was put behind it is in the buffer then, up to the next body.
    mutating func writeBody(in room: () -> [UInt8]) -> GatheredBody? {
        guard case .body(let body)? = behind.first else { return nil }
        if buffer.capacity == 0 { buffer = room() }
        body.writeNext(to: &buffer)
        if body.count == 0 {
            behind.removeFirst()
            if case .bytes(let bytes)? = behind.first {
                buffer += bytes
                bytesBehind -= bytes.count
                behind.removeFirst()
            }
        }
        answersEndInBuffer = count
        return body.count == 0 ? body : nil
    }

    /// Adds notification, which may be told to many.
    mutating func post(_ line: ByteBuffer) { buffer += line.readableBytesView }

    /// Hands out all of it, if there is any, to be given to the kernel or to the network library at once.
    mutating func take() -> [UInt8]? {
        guard count > 0 else { return nil }
        var bytes: [UInt8] = []
        swap(&bytes, &buffer)
        if answersEndInBuffer > 0 { answersEnd = given + answersEndInBuffer }
        answersEndInBuffer = 0
        given += bytes.count
        return bytes
    }

    /// So many bytes of notification are given away, past the buffer.
    mutating func gave(_ bytes: Int) { given += bytes }

    /// What the kernel has taken, when the network library still has so much.
    func taken(butFor queued: Int) -> Int { given - queued }

    /// Whether there is an answer in what the network library still has.
    func owesAnswers(in queued: Int) -> Bool { answersEnd > taken(butFor: queued) }
}
