/// What a command line asks of the daemon.
///
/// Read by hand: looking through an argument parser's types was a quarter of the daemon's start and a megabyte of it. The
/// rules are that parser's all the same, and a test holds the two together.
package enum Invocation: Equatable {
    case serve(Arguments)
    case checkConfiguration(Arguments)
    case showHelp
    case showVersion

    /// Reads the words after the program's name.
    package init(_ words: [String]) throws(UsageError) {
        let reading = try Reading(words)
        if reading.asksFor("--help", short: "h") {
            self = .showHelp
        } else if let option = reading.emptyPath {
            // As the parser did it: `--version` hides nothing but what is left over.
            guard reading.asksFor("--version") else { throw .emptyPath(option) }
            self = .showVersion
        } else if reading.asksFor("--version") {
            self = .showVersion
        } else if let unknown = reading.unknown.first {
            throw .unknownOption(at: unknown.position, meant: unknown.meant)
        } else if !reading.extra.isEmpty {
            throw .unexpectedArguments(at: reading.extra)
        } else {
            self = reading.checksConfiguration ? .checkConfiguration(reading.arguments) : .serve(reading.arguments)
        }
    }
}

/// The words of a command line, sorted.
private struct Reading {
    var arguments = Arguments()
    var checksConfiguration = false
    /// Options that are not the daemon's.
    var unknown: [OptionWord] = []
    /// The positions of words that belong to no option.
    var extra: [Int] = []

    init(_ words: [String]) throws(UsageError) {
        let end = words.firstIndex(of: "--") ?? words.endIndex
        var sorted: [OptionWord?] = []
        for (index, word) in words[..<end].enumerated() { sorted.append(try OptionWord(word, at: index + 1)) }

        var index = 0
        while index < end {
            defer { index += 1 }
            guard let word = sorted[index] else {
                extra.append(index + 1)
                continue
            }
            guard let option = DaemonOption(named: word.name) else {
                unknown.append(word)
                continue
            }
            if option.valueName == nil {
                if word.value != nil { throw .unexpectedValue(option) }
                checksConfiguration = true
            } else if let value = word.value {
                take(value, for: option)
            } else if index + 1 < end, sorted[index + 1] == nil {
                index += 1
                take(words[index], for: option)
            } else {
                throw .missingValue(option)
            }
        }
        extra += words.indices[end...].dropFirst().map { $0 + 1 }
    }

    private mutating func take(_ value: String, for option: DaemonOption) {
        switch option {
        case .config: arguments.configuration = value
        case .socket: arguments.socket = value
        case .stateDirectory: arguments.stateDirectory = value
        case .checkConfig: preconditionFailure("--check-config was given a value")
        }
    }

    /// The first option whose path has nothing in it.
    var emptyPath: DaemonOption? {
        let paths: [(DaemonOption, String?)] = [
            (.config, arguments.configuration), (.socket, arguments.socket),
            (.stateDirectory, arguments.stateDirectory),
        ]
        return paths.first { $0.1 == "" }?.0
    }

    func asksFor(_ name: String, short: Character? = nil) -> Bool {
        unknown.contains { $0.name == name || short.map($0.hasLetter) ?? false }
    }
}

/// A word with one or two dashes before it.
private struct OptionWord {
    /// With its dashes.
    var name: String
    /// What stands behind the first `=`; nothing there is no value.
    var value: String?
    /// Its place on the command line, from 1 on.
    let position: Int

    /// Nothing where the word is no option: it has no dash, or is nothing but one.
    init?(_ word: String, at position: Int) throws(UsageError) {
        let dashes = word.prefix { $0 == "-" }.count
        guard dashes > 0, word != "-" else { return nil }
        guard dashes < 3 else { throw .malformed(at: position) }
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        name = String(parts[0])
        guard name != "-" else { throw .malformed(at: position) }
        self.position = position
        // `-x=` has a value, and `--option=` has none: so it was.
        if parts.count == 2, !parts[1].isEmpty || dashes == 1 { value = String(parts[1]) }
    }

    /// The option that was probably meant, unless it is one letter, which is no slip of another word.
    var meant: DaemonOption? { name.count > 2 ? DaemonOption(meantBy: name) : nil }

    /// Whether one of the letters behind a single dash is this one.
    func hasLetter(_ letter: Character) -> Bool {
        let dashes = name.prefix { $0 == "-" }.count
        let letters = name.dropFirst()
        return dashes == 1 && letters.contains(letter) && (value == nil || letters.count == 1)
    }
}
