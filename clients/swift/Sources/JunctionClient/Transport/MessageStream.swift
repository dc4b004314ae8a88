import JunctionProtocol

/// Splits the input of one connection into messages.
struct MessageStream {
    private let received = WipedBuffer(capacity: 16 << 10)
    private var splitter = LineSplitter(limit: LineSplitter.longestAnswer)
    private let reader = MessageReader()
    private var batch: Batch?

    /// Waits for input and receives it. Returns `false` at the end of the input.
    func receive(from socket: UnixSocket) throws(JunctionError) -> Bool {
        try socket.receive(into: received)
    }

    /// Returns the next message of the received input.
    mutating func next() throws(JunctionError) -> Message? {
        if let message = batch?.next() { return message }
        batch = nil

        var start = 0
        defer { received.removeFirst(start) }
        switch splitter.nextLine(in: received.bytes, from: &start) {
        case .complete(let line):
            switch reader.read(UnsafeRawBufferPointer(rebasing: received.bytes[line])) {
            case .single(let message):
                return message
            case .batch(var messages):
                let first = messages.next()
                batch = messages
                return first
            }
        case .tooLong:
            throw .unreadable("it is longer than \(LineSplitter.longestAnswer) bytes")
        case nil:
            return nil
        }
    }
}
