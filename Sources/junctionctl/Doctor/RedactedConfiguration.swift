import JunctionToml

/// The configuration as it may be shown: what has been read as TOML, by the path of its key, and of each value only what its
/// setting can mean.
///
/// It has no setting for a secret itself, but a file may have one all the same, in a comment, under a wrong name, or in the place
/// of something else. So it is not looked for what should be hidden, but for what can be shown.
struct RedactedConfiguration {
    private(set) var lines: [String] = []

    init(_ bytes: [UInt8]) {
        // The daemon takes none that is larger.
        guard bytes.count <= ConfigurationText.largest else {
            lines = ["it is larger than \(ConfigurationText.largest) bytes: nothing of it is shown"]
            return
        }
        do throws(TomlFault) {
            add(try TomlReader.read(bytes), in: "")
        } catch {
            // Whatever a reader would make of the rest, it is not what was meant.
            lines = ["it is no TOML, see line \(error.line): nothing of it is shown"]
        }
    }

    /// - Parameters:
    ///   - place: what the table is called here: known names, and the numbers of repeated tables.
    ///   - path: what it is called in the list of settings.
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
            // An entry that has nothing is one all the same.
            if case .table(let inner) = entry.value, !inner.isEmpty {
                add(inner, in: "\(place)[\(index)].", path: path + ".")
            } else {
                lines.append("\(place)[\(index)] = \(Redaction.mark)")
            }
        }
    }
}
