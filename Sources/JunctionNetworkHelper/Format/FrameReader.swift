import JunctionSecret

/// Assembles the messages of one direction from received bytes.
///
/// The reader checks the kind and the length of a frame before it allocates memory for the payload. It holds the
/// received part of a payload in memory that it wipes.
package struct FrameReader<Message: FramedMessage>: ~Copyable {
    private var head: [UInt8] = []
    /// The received part of the payload.
    private var payload = WipedQueue()

    package init() {}

    /// Takes received bytes and calls `each` with every message that is complete.
    ///
    /// If a payload cannot be decoded, `each` gets the fault, and reading continues with the next frame. After a fault
    /// in a frame's head the start of the next frame is unknown, so reading must stop.
    ///
    /// - Throws: the fault of a frame head, or the error that `each` throws.
    package mutating func take(
        _ bytes: UnsafeRawBufferPointer,
        each: (UInt32, Result<Message, FormatFault>) throws(FormatFault) -> Void
    ) throws(FormatFault) {
        var rest = bytes[...]
        while true {
            let missing = rest.prefix(Frame.headCount - head.count)
            head += missing
            rest = rest.dropFirst(missing.count)
            guard head.count == Frame.headCount else { return }
            let (kind, count) = try Self.kindAndCount(of: head)
            let part = rest.prefix(count - payload.count)
            payload.append(UnsafeRawBufferPointer(rebasing: part))
            rest = rest.dropFirst(part.count)
            guard payload.count == count else { return }
            let transfer = UInt32(Self.number(head[4..<8]))
            let whole = SharedSecret(payload.takeAll())
            head = []
            try each(transfer, Result { () throws(FormatFault) in try Message(kind, whole) })
        }
    }

    /// Whether the reader has received a part of a frame but not all of it.
    package var isInFrame: Bool { !head.isEmpty }

    private static func kindAndCount(of head: [UInt8]) throws(FormatFault) -> (Message.Kind, Int) {
        guard let kind = Message.Kind(rawValue: head[8]) else {
            throw FormatFault("a frame of unknown kind \(head[8])")
        }
        let count = number(head[0..<4])
        guard count <= kind.longestPayload else {
            throw FormatFault("a frame of \(count) bytes, where \(kind.longestPayload) are the most")
        }
        return (kind, count)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}
