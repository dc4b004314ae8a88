import JunctionToml

/// The configuration as it may be shown: only valid TOML, by key, and only values that a setting can have.
///
/// No setting holds a secret itself, but a file may contain one in a comment, under a wrong key or in a wrong place. So
/// this type shows known values instead of hiding known secrets.
struct RedactedConfiguration {
    private(set) var lines: [String] = []

    init(_ bytes: [UInt8]) {
        // The daemon refuses a larger file, too.
        guard bytes.count <= ConfigurationText.largest else {
            lines = ["it is larger than \(ConfigurationText.largest) bytes: nothing of it is shown"]
            return
        }
        do throws(TomlFault) {
            add(try TomlReader.read(bytes), in: "")
        } catch {
            // After a syntax error, the rest may mean something else than its author intended.
            lines = ["it is no TOML, see line \(error.line): nothing of it is shown"]
        }
    }

    /// - Parameters:
    ///   - place: the name of the table in the output: known names, and indexes of repeated tables.
    ///   - path: the name of the table in the list of settings.
    private mutating func add(_ table: [String: Setting], in place: String, path: String = "") {
        for (key, setting) in table.sorted(by: { ($0.value.line, $0.key) < ($1.value.line, $1.key) }) {
            let isKnown = KnownSetting.names(path + key)
            add(setting.value, at: place + (isKnown ? key : Redaction.mark), path: path + key)
        }
    }

    private mutating func add(_ value: SettingValue, at place: String, path: String) {
        if case .table(let inner) = value { return add(inner, in: place + ".", path: path + ".") }
        guard case .list(let entries) = value, path == KnownSetting.repeatedTable else {
            return lines.append("\(place) = \(KnownSetting.all[path]?.shown(value) ?? Redaction.mark)")
        }
        for (index, entry) in entries.enumerated() {
            // An empty entry is shown as well.
            if case .table(let inner) = entry.value, !inner.isEmpty {
                add(inner, in: "\(place)[\(index)].", path: path + ".")
            } else {
                lines.append("\(place)[\(index)] = \(Redaction.mark)")
            }
        }
    }
}
