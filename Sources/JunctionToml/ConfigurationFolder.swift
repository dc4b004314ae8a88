import Glibc

/// The folder beside a configuration file, such as `conf.d`. The package of an app can put a settings file there.
package struct ConfigurationFolder: Equatable {
    /// The limit is one file for each installed app. A folder with more files is probably not a configuration folder.
    package static let mostFiles = 128

    package let path: String
    /// The folder that contains this folder and the configuration file.
    private let surrounding: String

    /// - Parameters:
    ///   - name: the name of the folder.
    ///   - file: the path of the configuration file, which need not exist.
    package init(_ name: String, beside file: String) {
        let parent = file.lastIndex(of: "/").map { file[...$0] } ?? ""
        path = parent + name
        surrounding = parent.isEmpty ? "." : String(parent)
    }

    /// Returns a short path for messages, such as `conf.d/50-health-sync.toml`.
    package static func shown(_ file: String) -> String {
        file.split(separator: "/").suffix(2).joined(separator: "/")
    }

    /// Returns the names of the files to read, in the order of their bytes.
    ///
    /// It leaves out names that do not end with `.toml` or that begin with a dot, for example backups of editors and
    /// files of dpkg.
    static func filesToRead(among names: some Sequence<String>) -> [String] {
        // A dot and a combining mark after it are one character, so the bytes are compared.
        names.filter { $0.utf8.suffix(5).elementsEqual(".toml".utf8) && $0.utf8.first != UInt8(ascii: ".") }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Returns the paths of the files to read, in order. The list is empty if the folder does not exist.
    package func files() throws(UnreadableConfiguration) -> [String] {
        var status = stat()
        guard stat(path, &status) == 0 else {
            let reason = errno
            // A broken symbolic link is an error, because the entries behind it may be denying ones.
            if reason == ENOENT || reason == ENOTDIR, lstat(path, &status) != 0 { return [] }
            throw UnreadableConfiguration(path, errno: reason)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw UnreadableConfiguration(path, "is not a folder") }
        try checkTrust(in: status)
        let files = Self.filesToRead(among: try names()).map { "\(path)/\($0)" }
        guard files.count <= Self.mostFiles else {
            throw UnreadableConfiguration(path, "has \(files.count) files, and at most \(Self.mostFiles) are possible")
        }
        return files
    }

    /// Throws unless the folder belongs to a trusted user and is not writable for every user. A file in the folder can
    /// give any user every right. In `/tmp`, for example, any user could create a folder of this name beside another
    /// user's file.
    private func checkTrust(in status: stat) throws(UnreadableConfiguration) {
        var parent = stat()
        let trusted = [0, geteuid()] + (stat(surrounding, &parent) == 0 ? [parent.st_uid] : [])
        guard trusted.contains(status.st_uid) else {
            throw UnreadableConfiguration(
                path,
                "belongs to the user \(status.st_uid), who could give rights to any app: it has to belong to root, to the "
                    + "daemon's user or to the owner of the folder around it"
            )
        }
        guard status.st_mode & S_IWOTH == 0 else {
            throw UnreadableConfiguration(
                path,
                "every user can write to it, and could give rights to any app: take that away (chmod o-w)"
            )
        }
    }

    private func names() throws(UnreadableConfiguration) -> [String] {
        guard let folder = opendir(path) else { throw UnreadableConfiguration(path, errno: errno) }
        defer { closedir(folder) }
        var names: [String] = []
        errno = 0
        while let entry = readdir(folder) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            )
            errno = 0
        }
        guard errno == 0 else { throw UnreadableConfiguration(path, errno: errno) }
        return names
    }
}
