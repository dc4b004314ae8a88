import Glibc

/// Where the configuration is read from, at start and at every reload.
package struct ConfigurationSource: Equatable, Sendable {
    /// What was read, from where, and what somebody should know about it.
    package struct Loaded: Equatable, Sendable {
        package var configuration: Configuration
        /// Absent: there is no file, and the built-in defaults apply.
        package var file: String?
        /// One line each: things that are allowed and may be mistakes.
        package var notes: [String]
    }

    /// The configuration file.
    package var path: String
    /// A file that somebody asked for must exist; the one at the usual place need not.
    package var mustExist: Bool
    /// The environment, whose `JUNCTIOND_…` variables overrule the file.
    package var variables: [String: String]

    package init(path: String, mustExist: Bool, variables: [String: String]) {
        self.path = path
        self.mustExist = mustExist
        self.variables = variables
    }

    /// Reads the whole configuration, or says which setting is wrong.
    package func load() throws(ConfigurationError) -> Loaded {
        let file: SettingsFile? =
            if let bytes = try read() { try SettingsFile(path: path, bytes: bytes) } else { nil }
        let source = SettingsTable.Source(file: file, variables: variables)
        let configuration = try Configuration(reading: SettingsTable(source))
        return Loaded(
            configuration: configuration,
            file: file?.path,
            notes: notes(about: configuration) + notesAboutVariables(understood: source.understood)
        )
    }

    private func notes(about configuration: Configuration) -> [String] {
        configuration.access.enumerated().filter(\.element.isAboutEverybody).map { index, _ in
            "access[\(index)] names no unit, user or group: it is about every caller"
        }
    }

    /// Not an error: the environment belongs to others as well, to `junctionctl` for one.
    private func notesAboutVariables(understood: Set<String>) -> [String] {
        let unknown = variables.keys.filter { name in
            name.hasPrefix(SettingsTable.variablePrefix) && !understood.contains(name)
                && !Paths.variables.contains(name)
        }
        return unknown.sorted().map { "The environment variable \($0) is not a setting of junctiond: it is ignored" }
    }

    /// The file's bytes, one more than allowed at most; `nil` when there is none and there need not be one.
    private func read() throws(ConfigurationError) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let reason = errno
            if !mustExist, reason == ENOENT || reason == ENOTDIR { return nil }
            throw fault(reason)
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while bytes.count <= SettingsFile.largest {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { break }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw fault(errno)
            }
            bytes += buffer.prefix(count)
        }
        return bytes
    }

    private func fault(_ reason: Int32) -> ConfigurationError {
        ConfigurationError(.file(path, line: nil), "cannot be read: \(String(cString: strerror(reason)))")
    }
}
