import Glibc
import JunctionSecret

/// Reads the few small files the wiring looks at itself.
enum SmallFile {
    static let largest = 1 << 20

    /// The file's bytes; `nil` when it cannot be read or is larger than any file we expect.
    static func bytes(at path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while bytes.count <= largest {
            let count = read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            guard count > 0 else { return nil }
            bytes += chunk.prefix(count)
        }
        return nil
    }

    /// The secret that the file holds, without white space around it; `nil` when it cannot be read or is empty.
    static func secret(at path: String) -> SharedSecret? {
        guard var bytes = bytes(at: path) else { return nil }
        defer { bytes.withUnsafeMutableBytes { wipe($0) } }
        let isSpace = { (byte: UInt8) in byte <= 0x20 }
        guard let first = bytes.firstIndex(where: { !isSpace($0) }),
            let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return nil }
        return bytes.withUnsafeBytes { SharedSecret(copying: UnsafeRawBufferPointer(rebasing: $0[first...last])) }
    }

    /// The file's one line, without white space around it.
    static func text(at path: String) -> String? {
        bytes(at: path).map { bytes in
            let isSpace = { (byte: UInt8) in byte <= 0x20 }
            let trimmed = bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
            return String(decoding: trimmed, as: UTF8.self)
        }
    }
}
