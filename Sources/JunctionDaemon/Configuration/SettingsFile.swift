import JunctionToml

/// The settings of a configuration file, merged with those of the files beside it. Callers do not depend on TOML.
struct SettingsFile {
    let path: String
    private(set) var root: [String: Setting]

    /// The only table that may occur in several files.
    private static let repeatedTable = "access"

    /// Creates an empty file, to which others can be added.
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

    /// Adds the settings of another file. Its access entries go after the present ones. Throws an error if the other
    /// file sets anything else that is set already.
    mutating func add(_ fragment: SettingsFile) throws(ConfigurationError) {
        root = try merged(root, fragment.root.mapValues { $0.placed(in: fragment.path) }, in: "")
    }

    private func merged(
        _ present: [String: Setting],
        _ added: [String: Setting],
        in table: String
    ) throws(ConfigurationError) -> [String: Setting] {
        var all = present
        // The order of the lines, so that the error is about the first duplicate.
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

    /// The name of each access entry in messages, such as `/etc/junctiond/junctiond.toml:7: access[0]`. The index
    /// counts the entries of all files.
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
