/// A value of a configuration file, and the line on which it stands.
package struct Setting: Equatable {
    package var value: SettingValue
    package var line: Int
    /// The file that has it, if that is not the configuration file itself.
    package var file: String?

    package init(value: SettingValue, line: Int) {
        self.value = value
        self.line = line
    }

    /// The setting, and all settings in it, as those of another file.
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

/// A value as a configuration file spells it, before anybody knows what it is for.
package indirect enum SettingValue: Equatable {
    case string(String)
    case integer(Int64)
    case boolean(Bool)
    case list([Setting])
    case table([String: Setting])
    /// What no setting takes, in words.
    case other(String)

    /// What to call it in an error. Numbers are shown; text is not, because it may be a secret in the wrong place.
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
