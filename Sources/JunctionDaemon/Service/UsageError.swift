import JunctionText

/// Why the command line is wrong. The text repeats no word of the command line, because such a word may be a secret.
package enum UsageError: Error, Equatable {
    /// The option's value is missing; the option is a `CLINUX_OPTION_…`.
    case missingValue(CInt)
    case unexpectedValue(CInt)
    case emptyPath(CInt)
    /// The position of the first word is 1.
    case unknownOption(at: Int)
    case unexpectedArgument(at: Int)

    /// The text for standard error: what is wrong, and where to read more.
    package var text: String {
        """
        Error: \(message)
        \(UsageText.synopsis)
          See '\(Version.name) --help' for more information.

        """
    }

    private var message: String {
        switch self {
        case .missingValue(let option): "Missing value for '\(option.optionForm)'"
        case .unexpectedValue(let option): UsageErrorText.needlessValue(of: option.optionForm)
        case .emptyPath(let option): "'\(option.optionForm)' needs a path"
        case .unknownOption(let position): UsageErrorText.unknownOption(at: position, suggestion: nil)
        case .unexpectedArgument(let position): UsageErrorText.unexpected(at: [position])
        }
    }
}
