import Glibc
import JunctionNetworkHelper
import JunctionSecret
import JunctionText

/// A PEM file of the configuration, with the content of its last successful read.
struct WatchedFile: Sendable {
    /// The required content of the file.
    enum Kind {
        case certificates
        case key
    }

    private enum Reading {
        case content(SharedSecret)
        case tooLong
        case unreadable
    }

    private struct Version: Equatable, Sendable {
        var device: UInt
        var number: UInt
        var size: Int
        var changed: Int
        var fraction: Int
    }

    private let path: String
    private let kind: Kind
    private var version: Version?
    private(set) var content: SharedSecret

    /// - Parameter setting: the name of the setting in the configuration.
    init(_ setting: String, _ path: String, _ kind: Kind) throws(ProviderConfigurationFault) {
        (self.path, self.kind) = (path, kind)
        let version = Self.version(of: path)
        switch Self.read(path) {
        case .content(let content) where PemFile.holds(kind, content):
            (self.version, self.content) = (version, content)
        case .content, .unreadable:
            throw ProviderConfigurationFault("\(setting): \(path) cannot be read as \(kind.words): expected a PEM file")
        case .tooLong:
            throw ProviderConfigurationFault(
                "\(setting): \(path) is too long: expected at most \(NetworkSettings.longestFile >> 10) KiB, so take out "
                    + "what the system trusts anyway"
            )
        }
    }

    /// Reads the file again if it has changed.
    ///
    /// - Returns: whether the content has changed.
    mutating func look() -> Bool {
        let now = Self.version(of: path)
        guard let now, now != version, case .content(let fresh) = Self.read(path), PemFile.holds(kind, fresh) else {
            return false
        }
        version = now
        guard !fresh.matches(content) else { return false }
        content = fresh
        return true
    }

    private static func version(of path: String) -> Version? {
        var found = stat()
        guard stat(path, &found) == 0 else { return nil }
        return Version(
            device: UInt(found.st_dev),
            number: UInt(found.st_ino),
            size: Int(found.st_size),
            changed: Int(found.st_ctim.tv_sec),
            fraction: Int(found.st_ctim.tv_nsec)
        )
    }

    private static func read(_ path: String) -> Reading {
        // Non-blocking, because the path may be a named pipe.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return .unreadable }
        defer { close(file) }
        var found = stat()
        guard fstat(file, &found) == 0, found.st_mode & S_IFMT == S_IFREG else { return .unreadable }
        guard found.st_size <= NetworkSettings.longestFile else { return .tooLong }
        let content = Secret(capacity: Int(found.st_size)) { room in
            var count = 0
            while count < room.count {
                let got = Glibc.read(file, room.baseAddress?.advanced(by: count), room.count - count)
                if got < 0, errno == EINTR { continue }
                guard got > 0 else { break }
                count += got
            }
            return count
        }
        return .content(SharedSecret(content))
    }
}

extension WatchedFile.Kind {
    fileprivate var words: String {
        switch self {
        case .certificates: "certificates"
        case .key: "a private key without a password"
        }
    }
}
