import CCurl
import Glibc
import JunctionNetworkHelper
import JunctionSecret

/// The certificates that the machine trusts, and those that the daemon adds.
///
/// A distribution has either a folder in which each CA certificate is named by its hash, or one file with all of them.
/// OpenSSL reads a certificate of the folder only when a chain needs it. The order is: the folder of this
/// distribution's libcurl, its file, then the folder that is usual elsewhere.
///
/// All connections share one store (`Authorities`) until a file changes. A separate store for each connection took 1.7
/// MB and 50 ms with the file of a distribution. Each transfer compares the state of the files, so a CA that is added
/// or removed applies from the next connection on.
final class TrustStore {
    private let ownFolder: String?
    private let file: String?
    private let usualFolder: String
    /// Certificates (PEM) that are trusted in addition to those of the system. Empty if there are none.
    private var more = SharedSecret.empty
    private var known: (sources: Sources, authorities: Authorities)?
    /// Whether `more` has changed since `known` was made.
    private var isChanged = false

    convenience init() {
        let library = ccurl_version()?.pointee
        self.init(
            ownFolder: library?.capath.map { String(cString: $0) },
            file: library?.cainfo.map { String(cString: $0) }
        )
    }

    /// - Parameters:
    ///   - ownFolder: the CA folder of this distribution's libcurl, if it has one.
    ///   - file: the CA file of this distribution's libcurl, if it has one.
    ///   - usualFolder: the CA folder of other distributions.
    init(ownFolder: String?, file: String?, otherwise usualFolder: String = "/etc/ssl/certs") {
        (self.ownFolder, self.file, self.usualFolder) = (ownFolder, file, usualFolder)
    }

    /// Replaces the certificates (PEM) that are trusted in addition to those of the system.
    func trust(_ more: SharedSecret) {
        (self.more, isChanged) = (more, true)
    }

    /// Returns the current store. It is the same object until something changes.
    ///
    /// - Returns: `nil` if the certificates cannot be read.
    var authorities: Authorities? {
        let sources = sources
        if let known, known.sources == sources, !isChanged { return known.authorities }
        let made = Authorities(file: sources.file, folder: sources.folder, more: more, isAnother: known != nil)
        // The next transfer tries again.
        guard let made else { return nil }
        (known, isChanged) = ((sources, made), false)
        return made
    }

    /// The current location of the system's CA certificates.
    var sources: Sources {
        if let ownFolder, let files = Sources.authorities(in: ownFolder) {
            return Sources(folder: ownFolder, files: files)
        }
        if let file, let stamp = FileStamp(file), stamp.size > 0, access(file, R_OK) == 0 {
            return Sources(file: file, files: [stamp])
        }
        if let files = Sources.authorities(in: usualFolder) { return Sources(folder: usualFolder, files: files) }
        // Without other certificates, a missing file makes every TLS connection fail.
        return Sources(file: more.count > 0 ? nil : file)
    }

    /// The location of the system's CA certificates, and the state of the files.
    struct Sources: Equatable {
        var file: String?
        var folder: String?
        var files: [FileStamp] = []

        /// Finds the certificates that `openssl rehash` has named by their hash.
        ///
        /// - Returns: `nil` if the folder has none.
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

/// The state of a file. Two different stamps mean that the file was changed or replaced.
struct FileStamp: Equatable {
    let name: String
    let size: Int
    private let device: UInt
    private let number: UInt
    private let changedAt: [Int]

    /// - Parameter folder: the descriptor of the folder that contains the name.
    init?(_ name: String, in folder: Int32 = AT_FDCWD) {
        var status = stat()
        // Follows symbolic links.
        guard fstatat(folder, name, &status, 0) == 0 else { return nil }
        self.name = name
        size = Int(status.st_size)
        (device, number) = (UInt(status.st_dev), UInt(status.st_ino))
        changedAt = [
            status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
        ]
    }
}
