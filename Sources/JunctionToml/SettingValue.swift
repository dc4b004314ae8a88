/// A value of a configuration file, with its line.
package struct Setting: Equatable {
    package var value: SettingValue
    package var line: Int
    /// The file of the setting, if that is not the configuration file itself.
    package var file: String?

    package init(value: SettingValue, line: Int) {
        self.value = value
        self.line = line
    }

    /// Returns the setting with `file` set, in it and in all settings inside it.
    package func placed(in file: String) -> Setting {
        var placed = self
        placed.file = file
        switch value {
        case .list(let elements): placed.value = .list(elements.map { $0.placed(in: file) })
        case .table(let table): placed.value = .table(table.mapValues { $0.placed(in: file) })
        case .string, .integer, .boolean, .other: break
        }
        return placed
    }
}

/// A value as a configuration file spells it, before its key is known.
package indirect enum SettingValue: Equatable {
    case string(String)
    case integer(Int64)
    case boolean(Bool)
    case list([Setting])
    case table([String: Setting])
    /// A value that no setting takes, described in words.
    case other(String)

    /// The value as an error names it. Numbers are shown. Text is not, because it may be a secret in the wrong place.
    package var inWords: String {
        switch self {
        case .string(let text): text.isEmpty ? "empty text" : "different text"
        case .integer(let number): "\(number)"
        case .boolean(let truth): "\(truth)"
        case .list: "a different list"
        case .table: "a table"
        case .other(let kind): kind
        }
    }
}
