import JunctionText

/// Why a command line makes no sense. It has no word of the command line that was not expected: such a word may be a secret.
package enum UsageError: Error, Equatable {
    /// It looks like an option and cannot be the name of one.
    case malformed(at: Int)
    case missingValue(DaemonOption)
    /// A switch takes no value.
    case unexpectedValue(DaemonOption)
    case emptyPath(DaemonOption)
    case unknownOption(at: Int, meant: DaemonOption?)
    /// They belong to no option.
    case unexpectedArguments(at: [Int])

    /// What standard error says: what is wrong, how it would be right, and where to read more.
    package var text: String {
        var lines = ["Error: \(message)"]
        if case .missingValue(let option) = self { lines.append("Help:  \(option.form)  \(option.summary)") }
        return (lines + ["Usage: \(UsageText.synopsis)", "  See '\(Version.name) --help' for more information.", ""])
            .joined(separator: "\n")
    }

    private var message: String {
        switch self {
        case .malformed(let position):
            UsageComplaint.malformedOption(at: position)
        case .missingValue(let option):
            "Missing value for '\(option.form)'"
        case .unexpectedValue(let option):
            UsageComplaint.needlessValue(of: option.name)
        case .emptyPath(let option):
            "\(option.name) needs a path."
        case .unknownOption(let position, let meant):
            UsageComplaint.unknownOption(at: position, suggestion: meant?.name)
        case .unexpectedArguments(let positions):
            UsageComplaint.unexpected(at: positions)
        }
    }
}
