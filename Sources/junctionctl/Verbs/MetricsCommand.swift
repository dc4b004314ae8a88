import ArgumentParser
import JunctionClient
import JunctionProtocol

struct MetricsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics",
        abstract: "Prints the daemon's counters in Prometheus text format."
    )

    @OptionGroup var options: GlobalOptions

    func run() throws {
        let metrics = try options.ask(DaemonMetrics.self, NoParams())
        try options.show(metrics) { $0.text.hasSuffix("\n") ? String($0.text.dropLast()) : $0.text }
    }
}
