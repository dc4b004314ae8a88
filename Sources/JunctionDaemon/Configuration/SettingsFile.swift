import JunctionToml

/// The settings of a configuration file, and of those beside it. Nothing above it knows that they are TOML.
struct SettingsFile {
    let path: String
    private(set) var root: [String: Setting]

    /// The one table of which every file may have some.
    private static let repeatedTable = "access"

    /// A file that does not exist, and to which others add.
    init(path: String) {
        (self.path, root) = (path, [:])
    }

    init(path: String, bytes: [UInt8]) throws(ConfigurationError) {
        guard bytes.count <= ConfigurationText.largest else {
            let message = "larger than \(ConfigurationText.largest) bytes: this is not a configuration file"
            throw ConfigurationError(.file(path, line: nil), message)
        }
        do throws(TomlFault) {
            root = try TomlReader.read(bytes)
        } catch {
            throw ConfigurationError(.file(path, line: error.line), error.message)
        }
        self.path = path
    }

    /// Adds the settings of another file: its access entries go after the present ones. Throws an error if the other file sets
    /// anything else that is set already.
    mutating func add(_ fragment: SettingsFile) throws(ConfigurationError) {
        root = try merged(root, fragment.root.mapValues { $0.placed(in: fragment.path) }, in: "")
    }

    private func merged(
        _ present: [String: Setting],
        _ added: [String: Setting],
        in table: String
    ) throws(ConfigurationError) -> [String: Setting] {
        var all = present
        // In the order of the lines, so that the error is about the first of them.
        for (key, setting) in added.sorted(by: { ($0.value.line, $0.key) < ($1.value.line, $1.key) }) {
            guard var first = present[key] else {
                all[key] = setting
                continue
            }
            switch (first.value, setting.value) {
            case (.table(let one), .table(let other)):
                first.value = .table(try merged(one, other, in: table + key + "."))
            case (.list(let entries), .list(let others)) where table + key == Self.repeatedTable:
                first.value = .list(entries + others)
            default:
                throw ConfigurationError(
                    place(of: setting),
                    key: table + key,
                    "set twice, first in \(place(of: first).description ?? path)"
                )
            }
            all[key] = first
        }
        return all
    }

    /// How messages name each access entry, such as `/etc/junctiond/junctiond.toml:7: access[0]`. They are counted over all files.
    var accessEntries: [String] {
        guard case .list(let entries) = root[Self.repeatedTable]?.value else { return [] }
        return entries.enumerated().map { index, entry in
            ConfigurationError.line([place(of: entry).description, "\(Self.repeatedTable)[\(index)]"])
        }
    }

    private func place(of setting: Setting) -> ConfigurationError.Place {
        .file(setting.file ?? path, line: setting.line)
    }
}
