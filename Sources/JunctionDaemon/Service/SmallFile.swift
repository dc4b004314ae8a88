import Glibc
import JunctionProviders
import JunctionSecret

/// Reads the small files that the daemon module needs.
enum SmallFile {
    static let largest = 1 << 20

    /// Returns the file's bytes, or `nil` if the file cannot be read or is larger than `largest`.
    static func bytes(at path: String) -> [UInt8]? { try? read(path) }

    /// Returns the secret in the file, without white space around it. It is `nil` if the file cannot be read or is
    /// empty.
    static func secret(at path: String) -> SharedSecret? { try? readableSecret(at: path).get() }

    /// Returns the secret in the file, without white space around it, or the reason why there is none.
    static func readableSecret(at path: String) -> Result<SharedSecret, UnreadableSecret> {
        var bytes: [UInt8]
        do throws(UnreadableSecret) {
            bytes = try read(path)
        } catch {
            return .failure(error)
        }
        defer { bytes.withUnsafeMutableBytes { wipe($0) } }
        let isSpace = { (byte: UInt8) in byte <= 0x20 }
        guard let first = bytes.firstIndex(where: { !isSpace($0) }), let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return .failure(.empty) }
        return .success(
            bytes.withUnsafeBytes { SharedSecret(copying: UnsafeRawBufferPointer(rebasing: $0[first...last])) }
        )
    }

    private static func read(_ path: String) throws(UnreadableSecret) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw UnreadableSecret(errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while bytes.count <= largest {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            guard count > 0 else { throw UnreadableSecret(errno) }
            bytes += chunk.prefix(count)
        }
        throw .tooLong
    }
}

extension UnreadableSecret {
    fileprivate init(_ code: Int32) {
        self =
            switch code {
            case ENOENT, ENOTDIR: .missing
            case EACCES, EPERM: .forbidden
            case EISDIR: .noFile
            default: .broken(String(cString: strerror(code)))
            }
    }
}
