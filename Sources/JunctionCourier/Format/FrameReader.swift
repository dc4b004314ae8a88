import JunctionSecret

/// Puts messages of one direction together from bytes as they arrive.
///
/// A frame's kind and length are looked at before any memory is given to its payload, and whatever has arrived of one is
/// in a box of its own.
package struct FrameReader<Message: FramedMessage>: ~Copyable {
    private var head: [UInt8] = []
    private var started: PayloadUnderWay?

    package init() {}

    /// Takes what has arrived, and hands over each message that is complete with it.
    ///
    /// A payload that cannot be read is handed over as its fault: the next frame begins where it was said to. After a fault of
    /// a frame itself nothing can be read any more, for where the next one begins is not known.
    ///
    /// - Throws: the fault of a frame, or what `each` throws.
    package mutating func take(
        _ bytes: UnsafeRawBufferPointer,
        each: (UInt32, Result<Message, FormatFault>) throws(FormatFault) -> Void
    ) throws(FormatFault) {
        var rest = bytes[...]
        while true {
            if started == nil {
                let missing = rest.prefix(Frame.headCount - head.count)
                head += missing
                rest = rest.dropFirst(missing.count)
                guard head.count == Frame.headCount else { return }
                started = try PayloadUnderWay(Self.kind(of: head), count: Self.number(head[0..<4]))
            }
            let taken = started?.fill(from: rest) ?? 0
            rest = rest.dropFirst(taken)
            guard let whole = started?.whole() else { return }
            let transfer = UInt32(Self.number(head[4..<8]))
            let kind = try Self.kind(of: head)
            (started, head) = (nil, [])
            try each(transfer, Result { () throws(FormatFault) in try Message(kind, whole) })
        }
    }

    /// Whether a frame has begun that is not complete: the other end went in the middle of it.
    package var isInFrame: Bool { started != nil || !head.isEmpty }

    private static func kind(of head: [UInt8]) throws(FormatFault) -> Message.Kind {
        guard let kind = Message.Kind(rawValue: head[8]) else {
            throw FormatFault("a frame of unknown kind \(head[8])")
        }
        return kind
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}

/// As much of a payload as has arrived; wiped when it goes away.
private final class PayloadUnderWay {
    private let storage: UnsafeMutableRawBufferPointer
    private let count: Int
    private var filled = 0

    init(_ kind: some FrameKind, count: Int) throws(FormatFault) {
        guard count <= kind.longestPayload else {
            throw FormatFault("a frame of \(count) bytes, where \(kind.longestPayload) are the most")
        }
        storage = .allocate(byteCount: max(count, 1), alignment: 16)
        self.count = count
    }

    /// - Returns: how many of the bytes belong to this payload.
    func fill(from bytes: Slice<UnsafeRawBufferPointer>) -> Int {
        let taken = bytes.prefix(count - filled)
        UnsafeMutableRawBufferPointer(rebasing: storage[filled...]).copyMemory(from: .init(rebasing: taken))
        filled += taken.count
        return taken.count
    }

    func whole() -> SharedSecret? {
        guard filled == count else { return nil }
        return SharedSecret(copying: UnsafeRawBufferPointer(rebasing: storage[0..<count]))
    }

    deinit {
        wipe(storage)
        storage.deallocate()
    }
}
