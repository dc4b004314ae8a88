import CCurl
import Glibc
import JunctionSecret

/// A certificate store. All connections share it, so each file is read once.
final class Authorities {
    let store: UnsafeMutableRawPointer
    /// When this store replaced another one, in seconds on the clock that libcurl uses.
    private let replacedAt: Int?

    /// - Parameters:
    ///   - file: a file of certificates (PEM), if there is one.
    ///   - folder: a folder with one certificate per file, named by its hash, if there is one. OpenSSL reads a file
    ///     when it needs it.
    ///   - more: further certificates (PEM). Empty if there are none.
    ///   - isAnother: whether the process had another store before.
    /// - Returns: `nil` if the certificates cannot be read.
    init?(file: String?, folder: String?, more: SharedSecret, isAnother: Bool) {
        let store = more.withUnsafeBytes { ccurl_make_authorities(file, folder, $0.baseAddress, Int32($0.count)) }
        guard let store else { return nil }
        self.store = store
        replacedAt = isAnother ? Self.now : nil
    }

    deinit { ccurl_free_authorities(store) }

    /// Returns the greatest age, in seconds, of a kept connection that was made with this store. Zero for a new store,
    /// and `nil` for the first store of the process, with which every connection was made.
    var age: Int? {
        // libcurl and this clock may differ by one second.
        replacedAt.map { max(Self.now - $0 - 1, 0) }
    }

    private static var now: Int {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return now.tv_sec
    }
}
