import ArgumentParser
import JunctionDaemon
import JunctionText

/// The daemon's options as the argument parser knows them: the judge of what the daemon reads by hand.
///
/// The shell completions of the package are made by it, too.
struct ParserJudge: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "junctiond",
        abstract: "Keeps one user signed in, and shares the session with every local app.",
        discussion: """
            It stays in the foreground: let the service manager put it in the background. Talk to it with junctionctl.

            Every scalar key of the configuration can also be set by an environment variable, which overrules the \
            file: limits.inFlight by JUNCTIOND_LIMITS_IN_FLIGHT.

            SIGTERM and SIGINT end it in good order; SIGHUP makes it read the configuration again.

            Exit codes: 0; 64 usage; 70 internal; 73 the socket or the state cannot be created; 75 another instance \
            owns them, or a user or group of the configuration cannot be looked up now; 78 configuration.
            """,
        version: "\(Version.name) \(Version.number)"
    )

    @Option(
        name: .customLong("config"),
        help: ArgumentHelp(
            """
            The configuration; otherwise junctiond.toml in $CONFIGURATION_DIRECTORY, otherwise \
            /etc/junctiond/junctiond.toml. Where that file is missing the built-in defaults apply.
            """,
            valueName: "file"
        ),
        completion: .file(extensions: ["toml"])
    )
    var configurationFile: String?

    @Option(
        help: ArgumentHelp(
            """
            Where to listen, unless a socket was passed; otherwise $XDG_RUNTIME_DIR/junctiond/junctiond.sock, \
            otherwise /run/junctiond/junctiond.sock.
            """,
            valueName: "path"
        ),
        completion: .file()
    )
    var socket: String?

    @Option(
        name: .customLong("state-dir"),
        help: ArgumentHelp(
            """
            Where to keep the session; otherwise $STATE_DIRECTORY, otherwise $XDG_STATE_HOME/junctiond, otherwise \
            ~/.local/state/junctiond.
            """,
            valueName: "dir"
        ),
        completion: .directory
    )
    var stateDirectory: String?

    @Flag(
        name: .customLong("check-config"),
        help: "Check the configuration and the files it names, say whether it is in order, and end."
    )
    var checksConfiguration = false

    func validate() throws {
        for (option, value) in [("config", configurationFile), ("socket", socket), ("state-dir", stateDirectory)]
        where value == "" {
            throw ValidationError("--\(option) needs a path.")
        }
    }
}

extension ParserJudge {
    /// What a command line comes to.
    enum Verdict: Equatable {
        case serve(Arguments)
        case checkConfiguration(Arguments)
        /// Something on standard output, and exit code 0.
        case tells(String)
        /// Something on standard error, and exit code 64.
        case refuses(String)
    }

    static func verdict(on words: [String]) -> Verdict {
        do {
            guard let judge = try parseAsRoot(words) as? ParserJudge else {
                return .tells(helpMessage(columns: 80) + "\n")
            }
            let arguments = Arguments(
                configuration: judge.configurationFile,
                socket: judge.socket,
                stateDirectory: judge.stateDirectory
            )
            return judge.checksConfiguration ? .checkConfiguration(arguments) : .serve(arguments)
        } catch {
            let text = fullMessage(for: error, columns: 80) + "\n"
            guard exitCode(for: error) != .success else { return .tells(text) }
            let message = message(for: error)
            let complaint = UsageComplaint(message, about: words, help: helpMessage())
            return .refuses(text.replacing(message, with: complaint.text, maxReplacements: 1).withoutPositions)
        }
    }
}

extension Invocation {
    /// What the daemon makes of a command line.
    static func verdict(on words: [String]) -> ParserJudge.Verdict {
        do throws(UsageError) {
            return switch try Invocation(words) {
            case .serve(let arguments): .serve(arguments)
            case .checkConfiguration(let arguments): .checkConfiguration(arguments)
            case .showHelp: .tells(UsageText.page + "\n")
            case .showVersion: .tells("\(Version.name) \(Version.number)\n")
            }
        } catch {
            return .refuses(error.text.withoutPositions)
        }
    }
}

extension String {
    /// The same without the positions of words, which the argument parser does not tell where words are alike.
    fileprivate var withoutPositions: String { replacing(/s? at positions? [0-9]+(, [0-9]+)*( and [0-9]+)?/, with: "") }
}
