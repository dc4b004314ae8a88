import Glibc

/// A run of secret bytes in one allocation of its own, wiped when it goes away.
///
/// It cannot be copied, printed or put into a collection: the compiler refuses. It is not a promise about the
/// rest of the process (registers, kernel buffers, what a library copied); it keeps our own copy to exactly one.
package struct Secret: ~Copyable, @unchecked Sendable {
    // Written once, in `init`, and only read after that, which is why sharing it between threads is sound.
    private let storage: UnsafeMutableRawBufferPointer
    /// How many bytes the secret has.
    package let count: Int

    /// Fills a new secret in place, so that no second copy is ever made.
    ///
    /// - Parameters:
    ///   - capacity: the most bytes that `fill` may write; zero is allowed.
    ///   - fill: writes the secret and returns how many bytes it wrote, 0…`capacity`.
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

    /// Copies the secret out of somebody else's memory, which stays theirs to wipe.
    package init(copying bytes: UnsafeRawBufferPointer) {
        self.init(capacity: bytes.count) { room in
            room.copyMemory(from: bytes)
            return bytes.count
        }
    }

    /// Lends the bytes for the length of `body`; they must not be kept.
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

/// A secret that several owners hold at once; wiped when the last one lets go.
package final class SharedSecret: Sendable {
    private let secret: Secret

    package init(_ secret: consuming Secret) {
        self.secret = secret
    }

    /// Copies the secret out of somebody else's memory, which stays theirs to wipe.
    package convenience init(copying bytes: UnsafeRawBufferPointer) {
        self.init(Secret(copying: bytes))
    }

    /// Takes over text that a library forced to be a `String`; that copy cannot be wiped.
    package convenience init(text: String) {
        self.init(
            Secret(capacity: text.utf8.count) { room in
                room.copyBytes(from: text.utf8)
                return text.utf8.count
            }
        )
    }

    /// How many bytes the secret has.
    package var count: Int { secret.count }

    /// Lends the bytes for the length of `body`; they must not be kept.
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try secret.withUnsafeBytes(body)
    }

    /// Whether both hold the same bytes, in a time that depends on the length only.
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
    /// Never the secret, wherever it is printed by mistake.
    package var description: String { "‹secret›" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Overwrites memory in a way that the optimiser may not remove.
package func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    explicit_bzero(base, bytes.count)
}
