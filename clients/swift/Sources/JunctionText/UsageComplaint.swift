/// A usage error in words that repeat nothing of the command line: an argument that was not expected may be a secret.
///
/// The argument parser's messages quote what was typed. This type recognises each of them and names the option, or the
/// position of the argument, instead.
package struct UsageComplaint: Equatable {
    /// What is wrong, without a full stop.
    package let text: String

    /// - Parameters:
    ///   - message: the argument parser's. A message that is not one of its own is taken as it is.
    ///   - words: the command line without the program's name; the first word has position 1.
    ///   - help: all of the program's pages of help. A name is repeated only if it is in them.
    package init(_ message: String, about words: [String], help: String) {
        text = Self.templates.lazy.compactMap { $0(message, words, help) }.first ?? message
    }

    /// An argument that belongs to no option.
    package static func unexpected(at positions: [Int]) -> String {
        "unexpected argument\(place(positions)) (not shown, for it may be a secret)"
    }

    /// An option that the program does not have.
    ///
    /// - Parameter suggestion: the option that was probably meant.
    package static func unknownOption(at position: Int?, suggestion: String?) -> String {
        "unknown option\(place(position.map { [$0] } ?? []))" + (suggestion.map { "; did you mean '\($0)'?" } ?? "")
    }

    /// A word that looks like an option and cannot be the name of one.
    package static func malformedOption(at position: Int?) -> String {
        "malformed option\(place(position.map { [$0] } ?? []))"
    }

    /// A switch that was given a value.
    package static func needlessValue(of option: String) -> String { "the option '\(option)' does not take any value" }

    private static func place(_ positions: [Int]) -> String {
        guard let last = positions.last else { return "" }
        guard positions.count > 1 else { return " at position \(last)" }
        return "s at positions \(positions.dropLast().map(String.init).joined(separator: ", ")) and \(last)"
    }
}

/// What the argument parser says, one function a message of its own.
extension UsageComplaint {
    private typealias Template = @Sendable (_ message: String, _ words: [String], _ help: String) -> String?

    private static let templates: [Template] = [
        { message, words, _ in
            guard let typed = message.between("nexpected argument '", "'") ?? message.between("arguments: '", "'"),
                message.hasPrefix("Unexpected ") || message.first?.isNumber == true
            else { return nil }
            let parts = message.hasPrefix("Unexpected ") ? [typed] : typed.split(separator: "', '").map(String.init)
            let positions = words.indices.filter { parts.contains(words[$0]) }.map { $0 + 1 }
            // Words that are there twice, one of them as a value, have no certain position.
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
    /// What stands between the first `start` and the last `end` behind it.
    fileprivate func between(_ start: String, _ end: String) -> String? {
        guard let start = firstRange(of: start)?.upperBound, let end = self[start...].ranges(of: end).last else {
            return nil
        }
        return String(self[start..<end.lowerBound])
    }
}

extension [String] {
    /// The position of the first word that is this option, with a value or among other letters behind one dash.
    fileprivate func positionOfOption(_ name: String) -> Int? {
        let options = prefix { $0 != "--" }
        let isLetter = name.count == 2
        return options.firstIndex { word in
            word == name || word.hasPrefix(name + "=")
                || isLetter && word.hasPrefix("-") && !word.hasPrefix("--") && word.contains(name.dropFirst())
        }.map { $0 + 1 }
    }
}
