import JunctionSecret

/// Assembles the messages of one direction from received bytes.
///
/// The reader checks the kind and the length of a frame before it allocates memory for the payload. It holds the
/// received part of a payload in memory that it wipes.
package struct FrameReader<Message: FramedMessage>: ~Copyable {
    private var head: [UInt8] = []
    private var started: PayloadUnderWay?

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

    /// Whether the reader has received a part of a frame but not all of it.
    package var isInFrame: Bool { started != nil || !head.isEmpty }

    private static func kind(of head: [UInt8]) throws(FormatFault) -> Message.Kind {
        guard let kind = Message.Kind(rawValue: head[8]) else {
            throw FormatFault("a frame of unknown kind \(head[8])")
        }
        return kind
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}

/// The received part of a payload. Wiped on deinit.
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

    /// - Returns: the number of bytes that belong to this payload.
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
