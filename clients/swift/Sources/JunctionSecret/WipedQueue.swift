/// A queue of bytes, in blocks of one size that are wiped after use. The queue needs at most two blocks more than its
/// bytes, even if they are appended in small parts.
package struct WipedQueue: ~Copyable, Sendable {
    private var blocks: [Block] = []
    /// The number of removed bytes of the first block.
    private var start = 0
    package private(set) var count = 0

    package init() {}

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let position = (start + count) % Block.size
            if start + count == blocks.count * Block.size { blocks.append(Block()) }
            let piece = rest.prefix(Block.size - position)
            blocks[blocks.count - 1].storage[position...].copyBytes(from: piece)
            count += piece.count
            rest = rest.dropFirst(piece.count)
        }
    }

    /// Passes the first bytes to `body`, as many as are contiguous and at most `most`, and removes them.
    package mutating func take<Result>(atMost most: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let length = min(most, count, Block.size - start)
        guard length > 0 else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        let result = body(UnsafeRawBufferPointer(rebasing: blocks[0].storage[start..<start + length]))
        start += length
        count -= length
        if start == Block.size || count == 0 {
            blocks.removeFirst()
            start = 0
        }
        return result
    }

    /// Removes all bytes and returns them.
    package mutating func takeAll() -> Secret {
        Secret(capacity: count) { room in
            var filled = 0
            while count > 0 {
                filled += take(atMost: .max) { piece in
                    room[filled...].copyBytes(from: piece)
                    return piece.count
                }
            }
            return filled
        }
    }

    /// One block of memory, which is wiped when it is released.
    private final class Block: @unchecked Sendable {
        static let size = 1 << 15

        // Only the queue that owns the block reads or writes it.
        let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)

        deinit {
            wipe(storage)
            storage.deallocate()
        }
    }
}
