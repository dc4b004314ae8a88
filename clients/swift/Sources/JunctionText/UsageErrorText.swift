/// A usage error that repeats no argument of the command line: an unexpected argument may be a secret.
///
/// The messages of the argument parser quote the arguments. This type recognises each message, and names the option, or
/// the position of the argument, instead.
package struct UsageErrorText: Equatable {
    /// The error, without a full stop.
    package let text: String

    /// - Parameters:
    ///   - message: the argument parser's message. A message of another origin is kept unchanged.
    ///   - words: the command line without the program's name. The first word has position 1.
    ///   - help: all help pages of the program. A name is repeated only if these pages contain it.
    package init(_ message: String, about words: [String], help: String) {
        text = Self.templates.lazy.compactMap { $0(message, words, help) }.first ?? message
    }

    /// The error for an argument that belongs to no option.
    package static func unexpected(at positions: [Int]) -> String {
        "unexpected argument\(place(positions)) (not shown, for it may be a secret)"
    }

    /// The error for an option that the program does not have.
    ///
    /// - Parameter suggestion: the option that was probably meant.
    package static func unknownOption(at position: Int?, suggestion: String?) -> String {
        "unknown option\(place(position.map { [$0] } ?? []))" + (suggestion.map { "; did you mean '\($0)'?" } ?? "")
    }

    /// The error for a word that looks like an option but cannot be the name of one.
    package static func malformedOption(at position: Int?) -> String {
        "malformed option\(place(position.map { [$0] } ?? []))"
    }

    /// The error for a switch that was given a value.
    package static func needlessValue(of option: String) -> String { "the option '\(option)' does not take any value" }

    private static func place(_ positions: [Int]) -> String {
        guard let last = positions.last else { return "" }
        guard positions.count > 1 else { return " at position \(last)" }
        return "s at positions \(positions.dropLast().map(String.init).joined(separator: ", ")) and \(last)"
    }
}

/// The messages of the argument parser, with one function for each.
extension UsageErrorText {
    private typealias Template = @Sendable (_ message: String, _ words: [String], _ help: String) -> String?

    private static let templates: [Template] = [
        { message, words, _ in
            guard let typed = message.between("nexpected argument '", "'") ?? message.between("arguments: '", "'"),
                message.hasPrefix("Unexpected ") || message.first?.isNumber == true
            else { return nil }
            let parts = message.hasPrefix("Unexpected ") ? [typed] : typed.split(separator: "', '").map(String.init)
            let positions = words.indices.filter { parts.contains(words[$0]) }.map { $0 + 1 }
            // If a word occurs twice, once as a value, its position is not certain.
            return unexpected(at: positions.count == parts.count ? positions : [])
        },
        { message, words, help in
            guard message.hasPrefix("Unknown option '") else { return nil }
            let parts = message.split(separator: "'. Did you mean '", maxSplits: 1).map(String.init)
            let name = parts[0].split(separator: "'", omittingEmptySubsequences: false).dropFirst().first ?? ""
            let suggestion = parts.count == 2 ? String(parts[1].prefix { $0 != "'" }) : nil
            return unknownOption(
                at: words.positionOfOption(String(name)),
                suggestion: suggestion.flatMap { help.contains($0) ? $0 : nil }
            )
        },
        { message, words, _ in
            guard message.hasPrefix("Invalid option: ") else { return nil }
            let word = message.dropFirst("Invalid option: ".count)
            return malformedOption(at: words.firstIndex { $0 == word }.map { $0 + 1 })
        },
        { message, _, help in
            guard message.hasPrefix("The option '"), message.hasSuffix("' was specified.") else { return nil }
            let name = message.between("The option '", "' does not take any value") ?? ""
            return help.contains(name) ? needlessValue(of: name) : "an option that takes no value was given one"
        },
        { message, _, help in
            guard message.hasPrefix("The value '") else { return nil }
            let rest = message.split(separator: "' is invalid for '").dropFirst().last.map(String.init) ?? ""
            let name = String(rest.prefix { $0 != "'" })
            guard !name.isEmpty, help.contains(name) else { return "the value of an option is invalid" }
            let values = rest.split(separator: ". Please provide one of ").dropFirst().first.map {
                "; it is one of \($0)"
            }
            return "the value of '\(name)' is invalid"
                + (values.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 } ?? "")
        },
        { message, _, _ in
            message.hasPrefix("Can't generate completion scripts for ")
                ? "--generate-completion-script takes bash, zsh or fish" : nil
        },
    ]
}

extension String {
    /// Returns the text between the first `start` and the last `end` after it.
    fileprivate func between(_ start: String, _ end: String) -> String? {
        guard let start = firstRange(of: start)?.upperBound, let end = self[start...].ranges(of: end).last else {
            return nil
        }
        return String(self[start..<end.lowerBound])
    }
}

extension [String] {
    /// Returns the position of the first word that is this option: with a value, or among other letters after one dash.
    fileprivate func positionOfOption(_ name: String) -> Int? {
        let options = prefix { $0 != "--" }
        let isLetter = name.count == 2
        return options.firstIndex { word in
            word == name || word.hasPrefix(name + "=")
                || isLetter && word.hasPrefix("-") && !word.hasPrefix("--") && word.contains(name.dropFirst())
        }.map { $0 + 1 }
    }
}
