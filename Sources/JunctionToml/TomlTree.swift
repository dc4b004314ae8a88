/// A table during parsing. Its origin decides what may be added to it.
final class TomlTree {
    enum Origin {
        /// Created by the header of a table below it. Its own header may still come.
        case implied
        /// Created by `[header]` or `[[header]]`.
        case header
        /// Created by `a.b = …` inside another table.
        case dotted
    }

    private enum Entry {
        case value(Setting)
        case table(TomlTree)
        case tables(Sequel)

        var line: Int {
            switch self {
            case .value(let setting): setting.line
            case .table(let table): table.line
            case .tables(let sequel): sequel.tables[0].line
            }
        }
    }

    /// The tables of one `[[header]]`, at least one. It is a class, because a list in an enum is copied when it grows.
    private final class Sequel {
        var tables: [TomlTree]

        init(_ first: TomlTree) { tables = [first] }
    }

    private var origin: Origin
    private var line: Int
    private var entries: [String: Entry] = [:]

    init(_ origin: Origin, line: Int) {
        self.origin = origin
        self.line = line
    }

    /// Adds `key = value`.
    func set(_ key: TomlKey, to value: SettingValue) throws(TomlFault) {
        var table = self
        for part in key.parts.dropLast() {
            switch table.entries[part] {
            case nil:
                let next = TomlTree(.dotted, line: key.line)
                table.entries[part] = .table(next)
                table = next
            case .table(let next)? where next.origin == .dotted:
                table = next
            case let entry?:
                throw twice(part, key, entry)
            }
        }
        if let entry = table.entries[key.last] { throw twice(key.last, key, entry) }
        table.entries[key.last] = .value(Setting(value: value, line: key.line))
    }

    /// Returns the table that `[key]` begins.
    func begin(_ key: TomlKey) throws(TomlFault) -> TomlTree {
        let parent = try parent(of: key)
        switch parent.entries[key.last] {
        case nil:
            let table = TomlTree(.header, line: key.line)
            parent.entries[key.last] = .table(table)
            return table
        case .table(let table)? where table.origin == .implied:
            table.origin = .header
            table.line = key.line
            return table
        case let entry?:
            throw twice(key.last, key, entry)
        }
    }

    /// Returns the table that `[[key]]` begins, after those of the same name.
    func append(_ key: TomlKey) throws(TomlFault) -> TomlTree {
        let parent = try parent(of: key)
        let table = TomlTree(.header, line: key.line)
        switch parent.entries[key.last] {
        case nil:
            parent.entries[key.last] = .tables(Sequel(table))
        case .tables(let sequel)?:
            sequel.tables.append(table)
        case let entry?:
            throw twice(key.last, key, entry)
        }
        return table
    }

    private func parent(of key: TomlKey) throws(TomlFault) -> TomlTree {
        var table = self
        for part in key.parts.dropLast() {
            switch table.entries[part] {
            case nil:
                let next = TomlTree(.implied, line: key.line)
                table.entries[part] = .table(next)
                table = next
            case .table(let next)?: table = next
            case .tables(let sequel)?: table = sequel.tables[sequel.tables.count - 1]
            case let entry?: throw twice(part, key, entry)
            }
        }
        return table
    }

    private func twice(_ part: String, _ key: TomlKey, _ first: Entry) -> TomlFault {
        TomlFault(line: key.line, message: "\(part) is set twice, first on line \(first.line)")
    }

    /// The finished table.
    var settings: [String: Setting] {
        entries.mapValues { entry in
            switch entry {
            case .value(let setting): setting
            case .table(let table): table.setting
            case .tables(let sequel): Setting(value: .list(sequel.tables.map(\.setting)), line: entry.line)
            }
        }
    }

    private var setting: Setting { Setting(value: .table(settings), line: line) }
}

/// A name such as `junction.authUrl`, split into its parts.
struct TomlKey {
    /// At least one part.
    var parts: [String]
    var line: Int

    var last: String { parts[parts.count - 1] }
}
