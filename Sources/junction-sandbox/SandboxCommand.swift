import ArgumentParser
import Glibc
import JunctionText

@main
struct SandboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "junction-sandbox",
        abstract: "A local stand-in for the cloud services that junctiond talks to.",
        discussion: """
            Without a subcommand it serves; 'junction-sandbox serve --help' has the options for that. The other \
            subcommands help authors of a server that makes registration tokens. demo shows what junctiond does.
            """,
        version: "junction-sandbox 0.1.0",
        subcommands: [
            ServeCommand.self, DemoCommand.self, MintRegistrationTokenCommand.self, VerifyRegistrationTokenCommand.self,
        ],
        defaultSubcommand: ServeCommand.self
    )

    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
            let help = ([Self.self] + configuration.subcommands).map { helpMessage(for: $0) }.joined()
            let words = Array(CommandLine.arguments.dropFirst())
            let complaint = UsageErrorText(message(for: error), about: words, help: help)
            say("junction-sandbox: \(complaint.text): see 'junction-sandbox --help'", to: STDERR_FILENO)
            exit(withError: ExitCode.validationFailure)
        }
    }
}

/// Writes one line without buffering, because the program that started the sandbox waits for it.
func say(_ line: String, to descriptor: Int32) {
    let bytes = Array((line + "\n").utf8)
    _ = write(descriptor, bytes, bytes.count)
}
