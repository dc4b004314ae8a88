import JunctionToml

/// The place that the daemon reads the configuration from, at the start and at every reload.
package struct ConfigurationSource: Equatable, Sendable {
    /// The configuration, where it was read from, and notes about it.
    package struct Loaded: Equatable, Sendable {
        package var configuration: Configuration
        package var origin: ConfigurationOrigin
        /// The name of each access entry in messages.
        package var accessEntries: [String]
        /// Settings that are allowed and may be mistakes, one line each.
        package var notes: [String]
        /// Where each setting and each table is set, by its key.
        package var places: [String: ConfigurationError.Place]
    }

    package var path: String
    /// Whether the file must exist. A file that the user named must, and the file at the default path need not.
    package var mustExist: Bool
    /// The name of the folder beside the file, whose files are read after it.
    package var folder = "conf.d"
    /// The environment, whose `JUNCTIOND_…` variables overrule the file.
    package var variables: [String: String]

    /// Reads the whole configuration. The error names the setting that is wrong.
    package func load() throws(ConfigurationError) -> Loaded {
        let bytes = try read()
        var settings = if let bytes { try SettingsFile(path: path, bytes: bytes) } else { SettingsFile(path: path) }
        // The limit for one file is also the limit for all files together.
        var room = ConfigurationText.largest - (bytes?.count ?? 0)
        let folder = ConfigurationFolder(folder, beside: path)
        let files = try Self.reading { () throws(UnreadableConfiguration) in try folder.files() }
        for file in files {
            let bytes = try Self.reading { () throws(UnreadableConfiguration) in
                try ConfigurationText.readFragment(file)
            }
            try settings.add(SettingsFile(path: file, bytes: bytes))
            room -= bytes.count
            guard room >= 0 else {
                let message = "larger than \(ConfigurationText.largest) bytes together with the files before it"
                throw ConfigurationError(.file(file, line: nil), message)
            }
        }
        let source = SettingsTable.Source(file: settings, variables: variables)
        let configuration = try Configuration(reading: SettingsTable(source))
        let entries = settings.accessEntries
        return Loaded(
            configuration: configuration,
            origin: ConfigurationOrigin(
                path: path,
                exists: bytes != nil,
                fragments: files.map(ConfigurationFolder.shown)
            ),
            accessEntries: entries,
            notes: notes(about: configuration, naming: entries) + notesAboutVariables(understood: source.understood),
            places: source.places
        )
    }

    private func notes(about configuration: Configuration, naming entries: [String]) -> [String] {
        configuration.access.enumerated().filter(\.element.isAboutEverybody).map { index, _ in
            let unused = entries.dropFirst(index + 1).first.map {
                "; the entries after it are never used, from \($0) on"
            }
            return "\(entries[index]) names no unit, user or group: it is about every caller" + (unused ?? "")
        }
    }

    /// Returns notes, not errors: other programs use such variables as well, for example `junctionctl`.
    private func notesAboutVariables(understood: Set<String>) -> [String] {
        let unknown = variables.keys.filter { name in
            name.hasPrefix(SettingsTable.variablePrefix) && !understood.contains(name)
                && !Paths.variables.contains(name)
        }
        return unknown.sorted().map { "The environment variable \($0) is not a setting of junctiond: it is ignored" }
    }

    /// Returns the file's bytes, or `nil` if the file does not exist and need not.
    private func read() throws(ConfigurationError) -> [UInt8]? {
        do throws(UnreadableConfiguration) {
            return try ConfigurationText.read(path)
        } catch {
            if !mustExist, error.isMissing { return nil }
            throw ConfigurationError(error)
        }
    }

    private static func reading<Value>(
        _ read: () throws(UnreadableConfiguration) -> Value
    ) throws(ConfigurationError) -> Value {
        do throws(UnreadableConfiguration) {
            return try read()
        } catch {
            throw ConfigurationError(error)
        }
    }
}

extension ConfigurationError {
    fileprivate init(_ unreadable: UnreadableConfiguration) {
        self.init(.file(unreadable.path, line: nil), unreadable.reason)
    }
}
