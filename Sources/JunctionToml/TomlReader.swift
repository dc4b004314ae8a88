/// Reads the part of TOML 1.0 that settings need: text, whole numbers, booleans, lists and tables.
///
/// Fractions, dates and times are recognised so that an error can name them. The project has its own reader because the
/// known ones are C++ code with assertions: a typo such as `[[[access]]]` ended the process. It would also end a
/// running daemon at a reload.
package struct TomlReader {
    private(set) var rest: ArraySlice<UInt8>
    private(set) var line = 1

    /// No configuration is deeper than three levels. The limit protects the stack from hostile files.
    private static let deepest = 16

    /// Returns the root table of a file.
    package static func read(_ bytes: [UInt8]) throws(TomlFault) -> [String: Setting] {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw TomlFault(line: lineOfFirstInvalidText(in: bytes), message: "not valid UTF-8")
        }
        var reader = TomlReader(rest: bytes[...])
        // Some editors begin every file with a byte order mark, which is not part of the text.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.rest = reader.rest.dropFirst(3) }
        let root = TomlTree(.header, line: 1)
        try reader.readLines(into: root)
        return root.settings
    }

    private mutating func readLines(into root: TomlTree) throws(TomlFault) {
        var table = root
        while true {
            skipBlanks()
            switch rest.first {
            case nil:
                return
            case UInt8(ascii: "#"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                break
            case UInt8(ascii: "["):
                table = try readHeader(in: root)
            default:
                let key = try readKey()
                try expect("=", in: "key = value")
                try table.set(key, to: readValue(depth: 0))
            }
            try endLine()
        }
    }

    private mutating func readHeader(in root: TomlTree) throws(TomlFault) -> TomlTree {
        try expect("[", in: "[name]")
        if take("[") {
            let key = try readKey()
            try expect("]", in: "[[name]]")
            guard take("]") else { throw fault("expected two brackets at the end of [[name]]") }
            return try root.append(key)
        }
        let key = try readKey()
        try expect("]", in: "[name]")
        return try root.begin(key)
    }

    // MARK: Keys

    private mutating func readKey() throws(TomlFault) -> TomlKey {
        let line = line
        var parts: [String] = []
        repeat {
            skipBlanks()
            parts.append(try readKeyPart())
            skipBlanks()
            guard parts.count <= TomlReader.deepest else { throw fault("the name has too many parts") }
        } while take(".")
        return TomlKey(parts: parts, line: line)
    }

    private mutating func readKeyPart() throws(TomlFault) -> String {
        switch rest.first {
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            return try readLineOfText()
        default:
            let name = rest.prefix { $0.isInBareKey }
            guard !name.isEmpty else {
                throw fault("expected a name, of letters, digits, \"_\" and \"-\" or in quotes")
            }
            rest = rest.dropFirst(name.count)
            return String(decoding: name, as: UTF8.self)
        }
    }

    // MARK: Values

    private mutating func readValue(depth: Int) throws(TomlFault) -> SettingValue {
        guard depth < TomlReader.deepest else { throw fault("nested too deeply") }
        skipBlanks()
        switch rest.first {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try readText())
        case UInt8(ascii: "["): return .list(try readList(depth: depth + 1))
        case UInt8(ascii: "{"): return .table(try readInlineTable(depth: depth + 1))
        default: return try readWord()
        }
    }

    private mutating func readList(depth: Int) throws(TomlFault) -> [Setting] {
        try expect("[", in: "a list")
        var elements: [Setting] = []
        while true {
            try skipLines()
            if take("]") { return elements }
            let line = line
            elements.append(Setting(value: try readValue(depth: depth), line: line))
            try skipLines()
            if take("]") { return elements }
            guard take(",") else { throw fault("expected \",\" or \"]\" in a list") }
        }
    }

    private mutating func readInlineTable(depth: Int) throws(TomlFault) -> [String: Setting] {
        try expect("{", in: "a table")
        let table = TomlTree(.header, line: line)
        skipBlanks()
        if take("}") { return [:] }
        while true {
            let key = try readKey()
            try expect("=", in: "key = value")
            try table.set(key, to: readValue(depth: depth))
            skipBlanks()
            if take("}") { return table.settings }
            guard take(",") else { throw fault("expected \",\" or \"}\" in a table on one line") }
        }
    }

    private mutating func readWord() throws(TomlFault) -> SettingValue {
        var word = takeWord()
        // A date and its time may be two words.
        if TomlWord.isDate(word), rest.first == UInt8(ascii: " "), rest.dropFirst().first?.isDigit == true {
            rest = rest.dropFirst()
            word += takeWord()
        }
        guard let value = TomlWord.value(of: word) else {
            throw fault(word.isEmpty ? "expected a value" : "expected a value that TOML knows; text stands in quotes")
        }
        return value
    }

    private mutating func takeWord() -> [UInt8] {
        let word = rest.prefix { $0.isInWord }
        rest = rest.dropFirst(word.count)
        return Array(word)
    }

    // MARK: Between

    /// Skips blanks and a comment, up to the end of the line or of the file.
    private mutating func endLine() throws(TomlFault) {
        skipBlanks()
        if rest.first == UInt8(ascii: "#") { try skipComment() }
        guard rest.isEmpty || takeNewline() else { throw fault("expected the end of the line") }
    }

    /// Skips everything that may be between the elements of a list.
    private mutating func skipLines() throws(TomlFault) {
        repeat {
            skipBlanks()
            if rest.first == UInt8(ascii: "#") { try skipComment() }
        } while takeNewline()
    }

    private mutating func skipComment() throws(TomlFault) {
        let comment = rest.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard !comment.contains(where: \.isControl) else { throw fault("a control character in a comment") }
        rest = rest.dropFirst(comment.count)
    }

    mutating func skipBlanks() {
        rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    }

    /// Skips `\n` or `\r\n`.
    mutating func takeNewline() -> Bool {
        let ending = rest.starts(with: "\r\n".utf8) ? 2 : rest.first == UInt8(ascii: "\n") ? 1 : 0
        rest = rest.dropFirst(ending)
        if ending > 0 { line += 1 }
        return ending > 0
    }

    mutating func take(_ character: Unicode.Scalar) -> Bool { take(String(character)) }

    /// Skips this text if it comes next.
    mutating func take(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    mutating func takeByte() -> UInt8? { rest.popFirst() }

    private mutating func expect(_ character: Unicode.Scalar, in form: String) throws(TomlFault) {
        skipBlanks()
        guard take(character) else { throw fault("expected \"\(character)\", as in \(form)") }
    }

    func fault(_ message: String) -> TomlFault { TomlFault(line: line, message: message) }

    private static func lineOfFirstInvalidText(in bytes: [UInt8]) -> Int {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return (lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0) + 1
    }
}

extension UInt8 {
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// A tab counts as a blank.
    var isControl: Bool { (self < 0x20 && self != UInt8(ascii: "\t")) || self == 0x7F }

    fileprivate var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
    fileprivate var isInBareKey: Bool { isLetter || isDigit || "_-".utf8.contains(self) }
    fileprivate var isInWord: Bool { isInBareKey || "+.:".utf8.contains(self) }
}
