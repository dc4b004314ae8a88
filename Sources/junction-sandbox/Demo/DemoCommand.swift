import ArgumentParser
import FoundationEssentials
import Glibc

/// `junction-sandbox demo`: runs a demonstration with real programs in a temporary folder.
struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Tell what junctiond does: a private daemon, a private cloud, two apps, a crash and an outage.",
        discussion: """
            It needs the installed programs and nothing else: no account, no network, no root. At the end \
            it stops the programs that it started, and removes its temporary folder.
            """
    )

    @Option(
        help: "The folder with junctiond and junctionctl; without it, this program's own, or where PATH leads.",
        completion: .directory
    )
    var programs: String?

    func run() throws {
        Interruption.listen()
        do {
            let stage = try DemoStage(programs: programs)
            defer { stage.clear() }
            do {
                try DemoScript(stage: stage).run()
            } catch {
                say("junction-sandbox: the demo failed: \(error)", to: STDERR_FILENO)
                let log = stage.log
                if !log.isEmpty { say("The daemon said:\n\(log)", to: STDERR_FILENO) }
                throw ExitCode(error is Interruption ? 128 + SIGINT : EX_SOFTWARE)
            }
        } catch let failure as DemoFailure {
            say("junction-sandbox: \(failure)", to: STDERR_FILENO)
            throw ExitCode(EX_UNAVAILABLE)
        }
    }
}

struct DemoFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
