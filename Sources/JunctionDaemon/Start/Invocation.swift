import CLinux
import Glibc

/// The task that the command line gives to the daemon.
///
/// glibc's `getopt_long(3)` parses it. docs/dependencies.md says why swift-argument-parser does not.
package enum Invocation: Equatable {
    case serve(Arguments)
    case checkConfiguration(Arguments)
    case showHelp
    case showVersion

    /// Reads the words after the program's name. Not thread-safe.
    package init(_ words: [String]) throws(UsageError) {
        var pointers = ([Version.name] + words).map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        let count = CInt(pointers.count)
        pointers.append(nil)

        var arguments = Arguments()
        var checksConfiguration = false
        var option = clinux_next_option(count, pointers, 1)
        while option.code != 0 {
            let value = option.value.map { String(cString: $0) }
            switch option.code {
            case .config: arguments.configuration = try Self.path(value, of: .config)
            case .socket: arguments.socket = try Self.path(value, of: .socket)
            case .stateDirectory: arguments.stateDirectory = try Self.path(value, of: .stateDirectory)
            case .checkConfig: checksConfiguration = true
            case .version:
                self = .showVersion
                return
            case .help:
                self = .showHelp
                return
            case .missingValue: throw .missingValue(option.about)
            default:
                throw option.about == .checkConfig || option.about == .version || option.about == .help
                    ? .unexpectedValue(option.about) : .unknownOption(at: Int(option.position))
            }
            option = clinux_next_option(count, pointers, 0)
        }
        guard option.position == count else { throw .unexpectedArgument(at: Int(option.position)) }
        self = checksConfiguration ? .checkConfiguration(arguments) : .serve(arguments)
    }

    /// Refuses a value that begins with a dash, because it is probably an option in the wrong place. `./-x` names such
    /// a file.
    private static func path(_ value: String?, of option: CInt) throws(UsageError) -> String {
        guard let value, value == "-" || !value.hasPrefix("-") else { throw .missingValue(option) }
        guard !value.isEmpty else { throw .emptyPath(option) }
        return value
    }
}

/// The numbers of the options.
extension CInt {
    static let config = CLINUX_OPTION_CONFIG
    static let socket = CLINUX_OPTION_SOCKET
    static let stateDirectory = CLINUX_OPTION_STATE_DIRECTORY
    static let checkConfig = CLINUX_OPTION_CHECK_CONFIG
    static let version = CLINUX_OPTION_VERSION
    static let help = CLINUX_OPTION_HELP
    fileprivate static let missingValue = CInt(UInt8(ascii: ":"))

    /// The option as a user writes it, with the name of its value.
    var optionForm: String {
        switch self {
        case .config: "--config <file>"
        case .socket: "--socket <path>"
        case .stateDirectory: "--state-dir <dir>"
        case .checkConfig: "--check-config"
        case .version: "--version"
        default: "--help"
        }
    }
}
