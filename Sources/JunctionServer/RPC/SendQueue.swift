import JunctionProtocol
import NIOCore

/// The output of a connection that is to be sent next, and the position of its last answer: after that position, there
/// are only notifications.
///
/// The body of an API answer is written only as the peer reads. Output after a body waits until the body is written.
struct SendQueue {
    private(set) var buffer: [UInt8] = []
    /// The output after the buffer. If not empty, it begins with a body.
    private var behind = CircularBuffer<OutgoingLine.Part>()
    /// The bytes in `behind` that are not bodies.
    private(set) var bytesBehind = 0
    /// The end of the last answer in the buffer.
    private var answersEndInBuffer = 0
    /// The bytes that were ever sent or passed to SwiftNIO.
    private var given = 0
    /// The end of the last answer in these bytes.
    private var answersEnd = 0

    /// The bytes that can be sent next.
    var count: Int { buffer.count }
    /// The bytes that can be sent next and those that wait behind a body.
    var unsent: Int { count + bytesBehind }
    /// Whether a body has to be written before further output can be sent.
    var hasBody: Bool { !behind.isEmpty }

    /// Adds an answer or a question with its line feed. If the buffer has no memory, `room` provides it.
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

    mutating func put(_ body: GatheredBody) { behind.append(.body(body)) }

    /// Writes more of the first body to the buffer. If the buffer has no memory, `room` provides it.
    ///
    /// - Returns: the body, when all of it is written. The output after it is in the buffer then, up to the next body.
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

    /// Adds a notification, whose bytes may be shared by many connections.
    mutating func putNotification(_ line: ByteBuffer) { buffer += line.readableBytesView }

    /// Takes the whole buffer, if it is not empty, to pass it to the kernel or SwiftNIO at once.
    mutating func take() -> [UInt8]? {
        guard count > 0 else { return nil }
        var bytes: [UInt8] = []
        swap(&bytes, &buffer)
        if answersEndInBuffer > 0 { answersEnd = given + answersEndInBuffer }
        answersEndInBuffer = 0
        given += bytes.count
        return bytes
    }

    /// Records that bytes of notifications were sent without the buffer.
    mutating func wrote(_ bytes: Int) { given += bytes }

    /// The bytes that the kernel has taken, if SwiftNIO still buffers `queued` bytes.
    func taken(butFor queued: Int) -> Int { given - queued }

    /// Whether an answer is among the bytes that SwiftNIO still buffers.
    func owesAnswers(in queued: Int) -> Bool { answersEnd > taken(butFor: queued) }
}
