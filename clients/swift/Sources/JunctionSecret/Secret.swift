import Glibc

/// Secret bytes in a separate allocation, which is wiped when the value ends.
///
/// The compiler refuses to copy or print a secret, or to put it into a collection. This type does not control the rest
/// of the process (registers, kernel buffers, copies in libraries). It keeps the process's own copy to exactly one.
package struct Secret: ~Copyable, @unchecked Sendable {
    // Written only in `init` and then only read, so it is safe to share it between threads.
    private let storage: UnsafeMutableRawBufferPointer
    /// The length of the secret, in bytes.
    package let count: Int

    /// Fills a new secret in place, without a second copy.
    ///
    /// - Parameters:
    ///   - capacity: the most bytes that `fill` may write; zero is allowed.
    ///   - fill: writes the secret and returns the number of written bytes, 0…`capacity`.
    package init(capacity: Int, filling fill: (UnsafeMutableRawBufferPointer) throws -> Int) rethrows {
        let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: max(capacity, 1), alignment: 16)
        do {
            let written = try fill(UnsafeMutableRawBufferPointer(rebasing: storage[0..<capacity]))
            precondition((0...capacity).contains(written), "A secret was filled past its capacity")
            count = written
            self.storage = storage
        } catch {
            wipe(storage)
            storage.deallocate()
            throw error
        }
    }

    /// Copies the secret from other memory, which the caller has to wipe.
    package init(copying bytes: UnsafeRawBufferPointer) {
        self.init(capacity: bytes.count) { room in
            room.copyMemory(from: bytes)
            return bytes.count
        }
    }

    /// Passes the bytes to `body`, which must not keep them.
    package borrowing func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: storage[0..<count]))
    }

    deinit {
        wipe(storage)
        storage.deallocate()
    }
}

/// A secret with several owners. It is wiped when the last one releases it.
package final class SharedSecret: Sendable {
    private let secret: Secret

    package init(_ secret: consuming Secret) {
        self.secret = secret
    }

    /// Copies the secret from other memory, which the caller has to wipe.
    package convenience init(copying bytes: UnsafeRawBufferPointer) {
        self.init(Secret(copying: bytes))
    }

    /// Copies the secret from a `String`, for libraries that provide only a `String`. That copy cannot be wiped.
    package convenience init(text: String) {
        self.init(
            Secret(capacity: text.utf8.count) { room in
                room.copyBytes(from: text.utf8)
                return text.utf8.count
            }
        )
    }

    /// The length of the secret, in bytes.
    package var count: Int { secret.count }

    /// Passes the bytes to `body`, which must not keep them.
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try secret.withUnsafeBytes(body)
    }

    /// Returns whether both hold the same bytes, in a time that depends only on the length.
    package func matches(_ other: SharedSecret) -> Bool {
        withUnsafeBytes { mine in
            other.withUnsafeBytes { theirs in
                guard mine.count == theirs.count else { return false }
                var difference: UInt8 = 0
                for index in mine.indices { difference |= mine[index] ^ theirs[index] }
                return difference == 0
            }
        }
    }
}

extension SharedSecret: CustomStringConvertible, CustomReflectable {
    /// A placeholder, so that an accidental print does not show the secret.
    package var description: String { "‹secret›" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Overwrites memory in a way that the optimiser must not remove.
package func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    explicit_bzero(base, bytes.count)
}
