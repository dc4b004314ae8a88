import JunctionText
import JunctionToml

/// The settings of one table. Each key is read from the environment, or else from the file.
///
/// The keys that were read are the known ones; every other key in the file is an error.
final class SettingsTable {
    /// The state that all tables of one configuration share.
    final class Source {
        let file: SettingsFile?
        let variables: [String: String]
        /// The variables that correspond to a key, whether they are set or not.
        private(set) var understood: Set<String> = []
        /// Where each setting and each table is set, by its key.
        fileprivate(set) var places: [String: ConfigurationError.Place] = [:]

        init(file: SettingsFile?, variables: [String: String]) {
            self.file = file
            self.variables = variables.filter { !$0.value.isEmpty }
        }

        /// Returns the name and the text of the variable for a key, if it is set. A variable overrides the file.
        func variable(for key: String) -> (name: String, text: String)? {
            let name = SettingsTable.variable(for: key)
            understood.insert(name)
            return variables[name].map { (name, $0) }
        }

        func place(of setting: Setting?) -> ConfigurationError.Place {
            .file(setting?.file ?? file?.path ?? "", line: setting?.line)
        }
    }

    private let source: Source
    private let path: String
    private let values: [String: Setting]
    /// The table's own setting, which has its line, if a file contains the table.
    private let beginning: Setting?
    /// Whether variables can set the keys. The entries of a list have no variables.
    private let hasVariables: Bool
    private var keys: Set<String> = []
    private var subtables: [SettingsTable] = []

    init(_ source: Source) {
        self.source = source
        path = ""
        values = source.file?.root ?? [:]
        beginning = nil
        hasVariables = true
    }

    private init(_ source: Source, path: String, _ values: [String: Setting], of table: Setting?, hasVariables: Bool) {
        self.source = source
        self.path = path
        self.values = values
        beginning = table
        self.hasVariables = hasVariables
    }

    /// Reads a setting. If it is absent, the default stays.
    func read<Value>(
        _ key: String,
        _ kind: SettingKind<Value>,
        into setting: inout Value
    ) throws(ConfigurationError) {
        if let given = try read(key, kind) { setting = given }
    }

    /// Reads a setting that has no default.
    func read<Value>(
        _ key: String,
        _ kind: SettingKind<Value>,
        into setting: inout Value?
    ) throws(ConfigurationError) {
        if let given = try read(key, kind) { setting = given }
    }

    private func read<Value>(_ key: String, _ kind: SettingKind<Value>) throws(ConfigurationError) -> Value? {
        keys.insert(key)
        let variable = hasVariables ? source.variable(for: path(of: key)) : nil
        source.places[path(of: key)] = variable.map { .variable($0.name) } ?? values[key].map(source.place(of:))
        do throws(SettingMismatch) {
            if let variable { return try kind.read(kind.spelledOut(variable.text)) }
            return if let setting = values[key] { try kind.read(setting.value) } else { nil }
        } catch {
            throw variable.map { ConfigurationError(.variable($0.name), error.message) } ?? fault(key, error.message)
        }
    }

    /// Returns the table under a key. It is empty if the file does not contain it.
    func table(_ key: String) throws(ConfigurationError) -> SettingsTable {
        keys.insert(key)
        let setting = values[key]
        source.places[path(of: key)] = setting.map(source.place(of:))
        var inner: [String: Setting] = [:]
        if let value = setting?.value {
            guard case .table(let values) = value else {
                throw fault(key, "expected a table, [\(path(of: key))], found \(value.inWords)")
            }
            inner = values
        }
        let table = SettingsTable(source, path: path(of: key), inner, of: setting, hasVariables: hasVariables)
        subtables.append(table)
        return table
    }

    /// Returns the tables under a key that may occur in the file several times.
    func tables(_ key: String) throws(ConfigurationError) -> [SettingsTable] {
        keys.insert(key)
        guard let value = values[key]?.value else { return [] }
        let expected = "expected tables, each under [[\(path(of: key))]], found "
        guard case .list(let entries) = value else { throw fault(key, expected + value.inWords) }
        for (index, entry) in entries.enumerated() {
            guard case .table(let values) = entry.value else {
                let message = expected + entry.value.inWords
                throw ConfigurationError(source.place(of: entry), key: path(of: key), message)
            }
            let path = "\(path(of: key))[\(index)]"
            subtables.append(SettingsTable(source, path: path, values, of: entry, hasVariables: false))
        }
        return subtables.suffix(entries.count)
    }

    /// Refuses a key that is reserved.
    func refuse(_ key: String, _ words: String) throws(ConfigurationError) {
        if values[key] != nil { throw fault(key, words) }
    }

    /// Returns an error about a key of this table, with the key's line if a file contains it.
    func fault(_ key: String, _ message: String) -> ConfigurationError {
        ConfigurationError(source.place(of: values[key] ?? beginning), key: path(of: key), message)
    }

    /// Throws on the first unknown key, in this table or in a table below.
    func refuseUnknownKeys() throws(ConfigurationError) {
        let unknown = values.keys.filter { !keys.contains($0) }.map { key in
            let meant = Spelling.suggestion(for: key, among: keys.sorted())
            return fault(key, "unknown key" + (meant.map { ": did you mean \"\($0)\"?" } ?? ""))
        }
        if var first = unknown.min(by: { $0.standsBefore($1) }) {
            first.message +=
                (first.message.hasSuffix("?") ? " There are: " : "; there are: ")
                + keys.sorted().joined(separator: ", ")
            throw first
        }
        for table in subtables { try table.refuseUnknownKeys() }
    }

    private func path(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    /// Returns the variable's name for a key: `renewal.handlerTimeout` becomes `JUNCTIOND_RENEWAL_HANDLER_TIMEOUT`.
    static func variable(for path: String) -> String {
        var name = variablePrefix
        for character in path {
            if character.isUppercase { name += "_" }
            name += character == "." ? "_" : character.uppercased()
        }
        return name
    }

    static let variablePrefix = "JUNCTIOND_"
}

extension ConfigurationError {
    /// The order of the lines in the file, then of the keys.
    fileprivate func standsBefore(_ other: ConfigurationError) -> Bool {
        guard case .file(_, let line) = place, case .file(_, let otherLine) = other.place else { return false }
        return (line ?? .max, key ?? "") < (otherLine ?? .max, other.key ?? "")
    }
}
