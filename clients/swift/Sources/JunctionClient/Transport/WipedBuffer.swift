import JunctionProtocol
import JunctionSecret

/// A buffer for bytes from or to the socket. Its memory is wiped, because the bytes contain tokens.
final class WipedBuffer: ByteSink {
    private var room: UnsafeMutableRawBufferPointer
    private var filled = 0

    init(capacity: Int = 4096) {
        room = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        release(room)
    }

    var count: Int { filled }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: room[..<filled]) }

    func append(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        spare(atLeast: bytes.count).copyMemory(from: bytes)
        filled += bytes.count
    }

    /// Lets `body` write after the present bytes. `body` returns how many bytes it wrote.
    func fill<Failure: Error>(
        atLeast count: Int,
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        filled += try body(spare(atLeast: count))
    }

    /// Removes and wipes the first `count` bytes.
    func removeFirst(_ count: Int) {
        guard count > 0 else { return }
        let rest = filled - count
        if rest > 0 { room.baseAddress!.copyMemory(from: room.baseAddress! + count, byteCount: rest) }
        wipe(UnsafeMutableRawBufferPointer(rebasing: room[rest..<filled]))
        filled = rest
    }

    private func spare(atLeast count: Int) -> UnsafeMutableRawBufferPointer {
        if room.count - filled < count {
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: max(room.count * 2, filled + count),
                alignment: 16
            )
            larger.copyMemory(from: bytes)
            release(room)
            room = larger
        }
        return UnsafeMutableRawBufferPointer(rebasing: room[filled...])
    }

    private func release(_ memory: UnsafeMutableRawBufferPointer) {
        wipe(UnsafeMutableRawBufferPointer(rebasing: memory[..<filled]))
        memory.deallocate()
    }
}
