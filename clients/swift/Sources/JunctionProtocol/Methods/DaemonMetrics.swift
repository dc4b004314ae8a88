/// Returns the metrics in Prometheus text format.
package enum DaemonMetrics: MethodDefinition {
    package typealias Params = NoParams

    package struct Answer: WireObject, Hashable {
        package var text: String

        package init(text: String) {
            self.text = text
        }

        package static let fields = Fields(
            at: "result",
            Answer.init(text:),
            Field("text", \.text, .string, "Prometheus text format")
        )
    }

    package static let name: StaticString = "daemon.metrics"
    package static let capability: Capability? = .status
    package static let onlyAnswers = true
    package static let summary = "Hands out the daemon's counters in Prometheus text format"
}
