import ArgumentParser
import CLinux
import JunctionDaemon

/// The door of the daemon: arguments in, exit code out.
///
/// `main` is synchronous on purpose: an asynchronous one starts a thread pool that wakes up once a second for ever.
@main
struct JunctiondCommand: ParsableCommand {
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
            "The configuration; otherwise /etc/junctiond/junctiond.toml, otherwise the built-in defaults.",
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

    static func main() {
        // No file of the session must be what standard error writes to.
        _ = clinux_occupy_standard_descriptors()
        main(nil)
    }

    func validate() throws {
        for (option, value) in [("config", configurationFile), ("socket", socket), ("state-dir", stateDirectory)]
        where value == "" {
            throw ValidationError("--\(option) needs a path.")
        }
    }

    func run() throws {
        let arguments = Arguments(
            configuration: configurationFile,
            socket: socket,
            stateDirectory: stateDirectory
        )
        let environment = ProcessEnvironment.current()
        let status =
            checksConfiguration ? check(arguments, in: environment) : Daemon.run(arguments, in: environment)
        throw ExitCode(status.rawValue)
    }

    private func check(_ arguments: Arguments, in environment: ProcessEnvironment) -> ExitStatus {
        let check = ConfigurationCheck(arguments, in: environment)
        for note in check.notes { StandardError.say(note) }
        if check.status == .success {
            print(check.verdict)
        } else {
            StandardError.say(check.verdict)
        }
        return check.status
    }
}
