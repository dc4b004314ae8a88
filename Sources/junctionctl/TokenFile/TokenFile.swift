import Glibc
import JunctionClient
import JunctionProtocol

/// A file with a token, which only named users can read.
struct TokenFile {
    let path: String
    var permissions: FilePermissions
    /// The file that this process has written last and not removed.
    private var own: Identity?

    private struct Identity: Equatable {
        var device: dev_t
        var inode: ino_t
    }

    init(path: String, permissions: FilePermissions = FilePermissions()) {
        self.path = path
        self.permissions = permissions
    }

    /// Whether this process has written the file.
    var isOwn: Bool { own != nil }

    /// Replaces the file. A reader sees the old content or the new content, and after a crash the file has one of them.
    mutating func replace(with content: SecretText) throws {
        _ = try regularFile(at: path)
        let temporary = "\(folder)/.\(name).junctionctl-new"
        // A process that was killed may have left one.
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure(errno) }
        defer { close(file) }
        do {
            // The permissions are complete before there is content.
            if let group = permissions.group { try check(fchown(file, uid_t.max, group)) }
            try check(fchmod(file, permissions.mode))
            try content.withUnsafeBytes { try write($0, to: file) }
            try check(fsync(file))
            var status = stat()
            try check(fstat(file, &status))
            let written = Identity(device: status.st_dev, inode: status.st_ino)
            // Another writer of the same file may have replaced the temporary file, which then may be incomplete.
            guard try regularFile(at: temporary) == written else { throw failure(EBUSY) }
            try check(rename(temporary, path))
            own = written
        } catch {
            unlink(temporary)
            throw error
        }
        try syncFolder()
    }

    /// Removes the file, if there is one.
    mutating func remove() throws {
        if try regularFile(at: path) != nil {
            guard unlink(path) == 0 || errno == ENOENT else { throw failure(errno, "removed") }
            try? syncFolder()
        }
        own = nil
    }

    /// Removes the file if it is the one that this process has written.
    mutating func removeOwn() throws {
        if let own, try regularFile(at: path) == own { try remove() }
    }

    /// Finds a file, without following a link.
    ///
    /// - Throws: if something else than a regular file has the name, which is then left alone.
    private func regularFile(at path: String) throws -> Identity? {
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
        return Identity(device: status.st_dev, inode: status.st_ino)
    }

    private var folder: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private var name: Substring { path.split(separator: "/", omittingEmptySubsequences: false).last ?? "" }

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

    private func failure(_ number: Int32, _ action: String = "written") -> CommandFailure {
        CommandFailure(
            "the token file cannot be \(action): \(String(cString: strerror(number)))",
            kind: "outputFailed",
            remedy: number == EPERM
                ? "name a group that you belong to" : "name a file in a folder that exists and that you may write to"
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
