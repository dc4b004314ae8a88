import CLinux
import Glibc
import JunctionClient
import JunctionProtocol

/// A file with a token, which only named users can read.
struct TokenFile {
    let path: String
    var permissions: FilePermissions
    /// The file that this process has written last and not removed.
    private var own: OpenFile?
    /// Whether a file with a token may be one of an earlier process, which was killed.
    private var mayBeOfEarlierProcess = true

    /// A file that stays open, so that no other file gets its inode number.
    private final class OpenFile {
        let descriptor: Int32
        init(_ descriptor: Int32) { self.descriptor = descriptor }
        deinit { close(descriptor) }
    }

    private struct Identity: Equatable {
        var device: dev_t
        var inode: ino_t

        init(_ status: stat) { (device, inode) = (status.st_dev, status.st_ino) }
    }

    init(path: String, permissions: FilePermissions = FilePermissions()) {
        self.path = path
        self.permissions = permissions
    }

    /// Whether this process has written the file.
    var isOwn: Bool { own != nil }

    /// Replaces the file. A reader sees the old content or the new content, and after a crash the file has one of them.
    mutating func replace(with content: SecretText) throws {
        _ = try status(of: path)
        let temporary = "\(folder)/\(Self.temporaryPrefix)\(String(UInt64.random(in: 0 ... .max), radix: 16))"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(errno) }
        let file = OpenFile(descriptor)
        do {
            // The lock comes before the content, for `removeLeftovers` of other processes.
            _ = flock(descriptor, LOCK_EX)
            // The permissions are complete before there is content. The folder may have given an access control list to
            // the file.
            if let group = permissions.group, fchown(descriptor, uid_t.max, group) != 0 {
                throw CommandFailure(tokenFile: "written", errno, inGivingToGroup: true)
            }
            try check(number: clinux_remove_access_list(descriptor))
            try check(fchmod(descriptor, permissions.mode))
            try content.withUnsafeBytes { try write($0, to: descriptor) }
            try check(fsync(descriptor))
            try check(rename(temporary, path))
        } catch {
            unlink(temporary)
            throw error
        }
        _ = flock(descriptor, LOCK_UN)
        own = file
        mayBeOfEarlierProcess = false
        try syncFolder()
    }

    /// Removes the file if this process has written it. The first call, before a write, also removes a token that an
    /// earlier process may have left.
    ///
    /// - Returns: false if there is another file, which is left alone.
    @discardableResult
    mutating func remove() throws -> Bool {
        let present = try status(of: path)
        if let present {
            guard isOwn(present) || mayBeOfEarlierProcess && hasToken(present) else {
                (own, mayBeOfEarlierProcess) = (nil, false)
                return false
            }
            guard unlink(path) == 0 || errno == ENOENT else { throw failure(errno, "removed") }
            try? syncFolder()
        }
        (own, mayBeOfEarlierProcess) = (nil, false)
        return true
    }

    /// Removes the file if it is the one that this process has written.
    mutating func removeOwn() throws {
        if isOwn { try remove() }
    }

    /// Removes temporary files that killed processes of the same user have left in the folder, also for other token
    /// files.
    func removeLeftovers() {
        guard let directory = opendir(folder) else { return }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if isTemporary(name) { removeLeftover("\(folder)/\(name)") }
        }
    }

    private func removeLeftover(_ path: String) {
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        var status = stat()
        // A process that is writing has locked its file. A file without content may be about to be locked.
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_size > 0, flock(file, LOCK_EX | LOCK_NB) == 0
        else { return }
        unlink(path)
    }

    /// The same for all token files of a folder: with the file's own name in it, a long name would become too long.
    private static let temporaryPrefix = ".junctionctl-token-"

    private func isTemporary(_ name: String) -> Bool {
        guard name.hasPrefix(Self.temporaryPrefix) else { return false }
        let end = name.dropFirst(Self.temporaryPrefix.count)
        return (1...16).contains(end.utf8.count) && UInt64(end, radix: 16) != nil
    }

    private func isOwn(_ present: stat) -> Bool {
        var status = stat()
        guard let own, fstat(own.descriptor, &status) == 0 else { return false }
        return Identity(status) == Identity(present)
    }

    /// The size, in bytes, that no file with a token has.
    private static let longest = 1 << 20

    /// Whether the file is this user's and its content has one of the forms in which this program writes tokens.
    private func hasToken(_ present: stat) -> Bool {
        guard present.st_uid == geteuid(), (1..<Self.longest).contains(Int(present.st_size)) else { return false }
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        let content = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(present.st_size), alignment: 1)
        defer {
            if let start = content.baseAddress { explicit_bzero(start, content.count) }
            content.deallocate()
        }
        guard read(file, content.baseAddress, content.count) == content.count else { return false }
        return TokenFormat.fits(UnsafeRawBufferPointer(content))
    }

    /// Finds a file, without following a link.
    ///
    /// - Throws: if something else than a regular file has the name, which is then left alone.
    private func status(of path: String) throws -> stat? {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw failure(errno)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw CommandFailure(
                "the token file cannot be written or removed: its name belongs to something that is no regular file",
                kind: "outputFailed",
                remedy: "name a regular file, or one that does not exist"
            )
        }
        return status
    }

    private var folder: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws {
        var rest = bytes
        while !rest.isEmpty {
            let written = Glibc.write(file, rest.baseAddress, rest.count)
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw failure(errno) }
            rest = UnsafeRawBufferPointer(rebasing: rest[written...])
        }
    }

    private func syncFolder() throws {
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else {
            // A folder may let this process write and not read.
            if errno == EACCES { return }
            throw failure(errno)
        }
        defer { close(directory) }
        try check(fsync(directory))
    }

    private func check(_ result: Int32) throws {
        if result != 0 { throw failure(errno) }
    }

    private func check(number: Int32) throws {
        if number != 0 { throw failure(number) }
    }

    private func failure(_ number: Int32, _ action: String = "written") -> CommandFailure {
        CommandFailure(tokenFile: action, number)
    }
}

extension CommandFailure {
    /// Creates the error of a system call.
    ///
    /// - Parameter inGivingToGroup: whether the call gives the file to the group of `--group`.
    init(tokenFile action: String, _ number: Int32, inGivingToGroup: Bool = false) {
        let remedy =
            switch number {
            case EPERM where inGivingToGroup: "name a group that you belong to"
            // A folder such as /tmp lets only the owner replace or remove a file.
            case EPERM: "name a file of your own, or one that does not exist"
            default: "name a file in a folder that exists and that you may write to"
            }
        self.init(
            "the token file cannot be \(action): \(String(cString: strerror(number)))",
            kind: "outputFailed",
            remedy: remedy
        )
    }
}

/// Who may read a token file.
struct FilePermissions: Equatable {
    var mode: mode_t = 0o600
    var group: gid_t?

    init() {}

    /// - Parameters:
    ///   - mode: octal digits. Only the owner and the group can have a right, and the group only that to read.
    ///   - group: a name or a number.
    init(mode: String?, group: String?, in accounts: AccountFiles) throws {
        if let mode {
            guard let number = mode_t(mode, radix: 8), [0o400, 0o440, 0o600, 0o640].contains(number) else {
                throw CommandFailure(usage: "--mode is one of 0400, 0440, 0600 and 0640")
            }
            self.mode = number
        }
        guard let group else { return }
        guard self.mode & 0o040 != 0 else {
            throw CommandFailure(usage: "--group needs a --mode in which the group may read, such as 0640")
        }
        guard let number = accounts.number(ofGroup: group) ?? gid_t(group), number != gid_t.max else {
            throw CommandFailure(
                "the group given to --group does not exist",
                kind: "unknownGroup",
                remedy: "name a group of /etc/group, or give its number",
                status: .usage
            )
        }
        self.group = number
    }
}
