import CCurl
import Glibc
import JunctionCourier
import JunctionSecret

/// The certificates that the machine trusts, and those that the daemon trusts beside them.
///
/// A distribution has a folder in which each authority has its hash as a name, or one file with all of them. In a folder OpenSSL
/// looks an authority up when a certificate names it, so nothing is read before. The folder of this distribution's libcurl comes
/// first, then its file, then the folder that is usual elsewhere.
///
/// All connections share one store (`Authorities`) until a file changes. A store of its own for each connection, made from a file
/// with as many authorities as a distribution has, took 1.7 MB and 50 ms. Each transfer compares the state of the files, so an
/// authority that was added or removed counts from the next connection on.
final class TrustStore {
    private let ownFolder: String?
    private let file: String?
    private let usualFolder: String
    /// Certificates (PEM) that are trusted beside those of the system; empty: none.
    private var more = SharedSecret.empty
    private var known: (sources: Sources, authorities: Authorities)?
    /// `more` has changed since `known` was made.
    private var isChanged = false

    convenience init() {
        let library = ccurl_version()?.pointee
        self.init(
            ownFolder: library?.capath.map { String(cString: $0) },
            file: library?.cainfo.map { String(cString: $0) }
        )
    }

    /// - Parameters:
    ///   - ownFolder: where this distribution's libcurl looks for single authorities, if it does.
    ///   - file: where it looks for all of them.
    ///   - usualFolder: where other distributions have single authorities.
    init(ownFolder: String?, file: String?, otherwise usualFolder: String = "/etc/ssl/certs") {
        (self.ownFolder, self.file, self.usualFolder) = (ownFolder, file, usualFolder)
    }

    /// Trusts these certificates (PEM) beside those of the system from now on.
    func trust(_ more: SharedSecret) {
        (self.more, isChanged) = (more, true)
    }

    /// Whom to trust now; the same store as long as nothing has changed.
    ///
    /// - Returns: `nil` where certificates cannot be read.
    var authorities: Authorities? {
        let sources = sources
        if let known, known.sources == sources, !isChanged { return known.authorities }
        let made = Authorities(file: sources.file, folder: sources.folder, more: more, isAnother: known != nil)
        // The next transfer tries again.
        guard let made else { return nil }
        (known, isChanged) = ((sources, made), false)
        return made
    }

    /// Where the system's authorities are at this moment.
    var sources: Sources {
        if let ownFolder, let files = Sources.authorities(in: ownFolder) {
            return Sources(folder: ownFolder, files: files)
        }
        if let file, let stamp = FileStamp(file), stamp.size > 0, access(file, R_OK) == 0 {
            return Sources(file: file, files: [stamp])
        }
        if let files = Sources.authorities(in: usualFolder) { return Sources(folder: usualFolder, files: files) }
        // A file that is missing is an error of each TLS connection, unless there are other certificates.
        return Sources(file: more.count > 0 ? nil : file)
    }

    /// The system's authorities, and which state their files are in.
    struct Sources: Equatable {
        var file: String?
        var folder: String?
        var files: [FileStamp] = []

        /// The authorities in a folder under their hashes, as `openssl rehash` makes them.
        ///
        /// - Returns: `nil` where there is none.
        fileprivate static func authorities(in folder: String) -> [FileStamp]? {
            guard let entries = opendir(folder) else { return nil }
            defer { closedir(entries) }
            var files: [FileStamp] = []
            while let entry = readdir(entries) {
                let name = withUnsafeBytes(of: entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                guard name.utf8.count == 10, name.utf8.dropFirst(8).first == UInt8(ascii: ".") else { continue }
                if let stamp = FileStamp(name, in: dirfd(entries)) { files.append(stamp) }
            }
            return files.contains { $0.name.hasSuffix(".0") } ? files : nil
        }
    }
}

/// The state of a file: two that differ are two files, or one that was changed.
struct FileStamp: Equatable {
    let name: String
    let size: Int
    private let device: UInt
    private let number: UInt
    private let changedAt: [Int]

    /// - Parameter folder: the descriptor of the folder in which the name is.
    init?(_ name: String, in folder: Int32 = AT_FDCWD) {
        var status = stat()
        // What a link points to counts.
        guard fstatat(folder, name, &status, 0) == 0 else { return nil }
        self.name = name
        size = Int(status.st_size)
        (device, number) = (UInt(status.st_dev), UInt(status.st_ino))
        changedAt = [
            status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
        ]
    }
}
