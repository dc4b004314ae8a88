import ArgumentParser
import CLinux
import Glibc
import JunctionClient

/// The command-line client: it parses arguments, sends a request to the daemon and returns an exit code.
@main
struct Junctionctl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "junctionctl",
        abstract: "Signs the one user of this device in and out, and hands out what belongs to them.",
        discussion: """
            Everything goes through the daemon's socket; nothing is read from its state directory.
            Secrets come from standard input, a file or a command, never from arguments.

            Exit codes: 0 done; 1 the daemon or the provider refused; 3 nobody is signed in; 64 usage; \
            69 no daemon; 75 try again later; 77 not permitted; 78 configuration.
            """,
        version: "junctionctl \(JunctionVersion.current)",
        groupedSubcommands: [
            CommandGroup(
                name: "Session",
                subcommands: [
                    SignInCommand.self, SignOutCommand.self, StatusCommand.self, WatchCommand.self, WaitCommand.self,
                    IdentifyCommand.self, ReconcileCommand.self,
                ]
            ),
            CommandGroup(
                name: "Token",
                subcommands: [
                    TokenCommand.self, CredentialCommand.self, RenewCommand.self, HandleRenewalsCommand.self,
                    ApiCommand.self,
                ]
            ),
            CommandGroup(
                name: "Daemon",
                subcommands: [WhoamiCommand.self, MetricsCommand.self, DoctorCommand.self, RPCCommand.self]
            ),
        ]
    )

    @OptionGroup var options: GlobalOptions

    static func main() {
        // Standard error must not be the socket to the daemon.
        _ = clinux_occupy_standard_descriptors()
        // Otherwise another program of the same user could take the connection to the daemon, and with it the rights of
        // this program's unit and groups.
        _ = clinux_forbid_own_dumps()
        // If the reader of a pipe has closed it, a write returns an error, and no signal ends the program.
        signal(SIGPIPE, SIG_IGN)
        let words = words(CommandLine.arguments)
        var verb: String?
        do {
            try requireText(CommandLine.unsafeArgv, Int(CommandLine.argc))
            var command = try parseAsRoot(Array(words))
            verb = type(of: command).configuration.commandName
            try command.run()
        } catch {
            end(with: error, of: words, in: verb)
        }
    }

    /// Throws if an argument is not UTF-8. Swift would repair it, and two user ids could become one.
    private static func requireText(_ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, _ count: Int)
        throws
    {
        for position in 1..<max(count, 1) {
            guard let argument = arguments[position], String(validatingCString: argument) == nil else { continue }
            throw CommandFailure(usage: "argument \(position) is not UTF-8")
        }
    }

    /// The name under which docker calls this program.
    private static let dockersName = "docker-credential-junction"

    static var isCalledByDocker: Bool { CommandLine.arguments.first?.split(separator: "/").last == dockersName[...] }

    /// Returns the command line. Under docker's name for it, this program has one verb.
    private static func words(_ arguments: [String]) -> ArraySlice<String> {
        (isCalledByDocker ? ["credential", "docker"] : []) + arguments.dropFirst()
    }
}
