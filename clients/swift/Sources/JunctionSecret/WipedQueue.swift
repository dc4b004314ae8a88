/// Bytes in the order in which they came, in blocks of one size that are wiped when they are done with: however small the parts
/// are in which they come, they take no more memory than what is in them and two blocks.
package struct WipedQueue: ~Copyable, Sendable {
    private var blocks: [Block] = []
    /// How much of the first block is gone.
    private var start = 0
    /// How many bytes are in it.
    package private(set) var count = 0

    package init() {}

    /// Adds bytes at the end.
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

    /// Lends the first bytes, as many of them as lie together, and forgets them.
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

    /// Wiped when it goes away.
    private final class Block: @unchecked Sendable {
        static let size = 1 << 15

        // Only the one queue that has it reads or writes it.
        let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)

        deinit {
            wipe(storage)
            storage.deallocate()
        }
    }
}
