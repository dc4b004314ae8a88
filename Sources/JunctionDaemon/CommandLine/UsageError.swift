/// Why a command line makes no sense.
package enum UsageError: Error, Equatable {
    /// It looks like an option and cannot be the name of one.
    case malformed(String)
    case missingValue(DaemonOption)
    /// A switch takes no value.
    case unexpectedValue(DaemonOption, String)
    case emptyPath(DaemonOption)
    case unknownOption(String)
    case unexpectedArguments([String])

    /// What standard error says: what is wrong, how it would be right, and where to read more.
    package var text: String {
        var lines = ["Error: \(message)"]
        if case .missingValue(let option) = self { lines.append("Help:  \(option.form)  \(option.summary)") }
        return (lines + ["Usage: \(UsageText.synopsis)", "  See '\(Version.name) --help' for more information.", ""])
            .joined(separator: "\n")
    }

    private var message: String {
        switch self {
        case .malformed(let word):
            "Invalid option: \(word)"
        case .missingValue(let option):
            "Missing value for '\(option.form)'"
        case .unexpectedValue(let option, let value):
            "The option '\(option.name)' does not take any value, but '\(value)' was specified."
        case .emptyPath(let option):
            "\(option.name) needs a path."
        case .unknownOption(let name):
            // One letter is no slip of another word.
            if name.count > 2, let meant = DaemonOption(meantBy: name) {
                "Unknown option '\(name)'. Did you mean '\(meant.name)'?"
            } else {
                "Unknown option '\(name)'"
            }
        case .unexpectedArguments(let words) where words.count == 1:
            "Unexpected argument '\(words[0])'"
        case .unexpectedArguments(let words):
            "\(words.count) unexpected arguments: '\(words.joined(separator: "', '"))'"
        }
    }
}
