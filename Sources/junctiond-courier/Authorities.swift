import CCurl
import Glibc
import JunctionSecret

/// A store of certificates that are trusted. All connections share it: what is in it is read once.
final class Authorities {
    let store: UnsafeMutableRawPointer
    /// When it took the place of another one, in seconds on the clock that libcurl has.
    private let replacedAt: Int?

    /// - Parameters:
    ///   - file: where there are certificates (PEM), if there is such a file.
    ///   - folder: where each is found by its name, if there is such a folder. Nothing there is read before it is needed.
    ///   - more: further certificates (PEM); empty: none.
    ///   - isAnother: there was another store before.
    /// - Returns: `nil` where certificates cannot be read.
    init?(file: String?, folder: String?, more: SharedSecret, isAnother: Bool) {
        let store = more.withUnsafeBytes { ccurl_make_authorities(file, folder, $0.baseAddress, Int32($0.count)) }
        guard let store else { return nil }
        self.store = store
        replacedAt = isAnother ? Self.now : nil
    }

    deinit { ccurl_free_authorities(store) }

    /// Returns the age, in seconds, up to which a kept connection was made with this store; zero for a store that is as good as
    /// new, and `nil` for the first store of the process, with which every connection was made.
    var age: Int? {
        // libcurl and this clock may be in different seconds.
        replacedAt.map { max(Self.now - $0 - 1, 0) }
    }

    private static var now: Int {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return now.tv_sec
    }
}
