import JunctionNetworkHelper
import JunctionSecret

/// A buffer for secret bytes that arrive in parts. It uses blocks of a fixed size, so even tiny parts need at most one
/// block more than their content.
struct SecretBuffer {
    private var blocks: [Block] = []
    private(set) var count = 0

    /// The allocated bytes.
    var capacity: Int { blocks.count * Block.size }

    mutating func append(_ part: SharedSecret) {
        part.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                if capacity == count { blocks.append(Block()) }
                let position = count % Block.size
                let piece = rest.prefix(Block.size - position)
                blocks[blocks.count - 1].write(UnsafeRawBufferPointer(rebasing: piece), at: position)
                count += piece.count
                rest = rest.dropFirst(piece.count)
            }
        }
    }

    /// The whole content in one secret.
    var whole: SharedSecret {
        SharedSecret(
            Secret(capacity: count) { room in
                for (index, block) in blocks.enumerated() {
                    block.read(
                        into: UnsafeMutableRawBufferPointer(rebasing: room[(index * Block.size)...].prefix(Block.size))
                    )
                }
                return count
            }
        )
    }
}

/// A block of memory. Wiped on deinit.
private final class Block {
    static let size = Flow.longestPart

    private let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)

    func write(_ bytes: UnsafeRawBufferPointer, at position: Int) {
        UnsafeMutableRawBufferPointer(rebasing: storage[position...]).copyMemory(from: bytes)
    }

    func read(into room: UnsafeMutableRawBufferPointer) {
        room.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage.prefix(room.count)))
    }

    deinit {
        wipe(storage)
        storage.deallocate()
    }
}
