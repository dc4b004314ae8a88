import ArgumentParser
import JunctionClient
import JunctionProtocol

struct RenewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renew",
        abstract: "Renews the access token now.",
        discussion: "It passes a postponement or a backoff; after a failure the daemon allows one attempt in 10 s."
    )

    @OptionGroup var options: GlobalOptions

    func run() throws {
        let result = try options.ask(SessionRenew.self, NoParams())
        try options.show(result) { RenewText($0).paragraph }
    }
}
