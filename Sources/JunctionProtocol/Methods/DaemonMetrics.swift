package import JunctionJSON

/// Hands out the counters, as Prometheus reads them.
package enum DaemonMetrics: MethodDefinition {
    package typealias Params = NoParams

    /// The counters.
    package struct Answer: WireValue, Hashable {
        /// Prometheus text format.
        package var text: String

        package init(text: String) {
            self.text = text
        }

        package init(reading value: JSONValue) throws(WireMismatch) {
            text = try Members(value, at: "result").string("text")
        }

        package func write(to writer: inout JSONWriter) {
            writer.object { $0.member("text", text) }
        }

        package static let schema = Schema.object([Member("text", .string, "Prometheus text format")])
    }

    package static let name: StaticString = "daemon.metrics"
    package static let capability: Capability? = .status
    package static func isRepeatable(_ params: Params) -> Bool { true }
    package static let summary = "Hands out the daemon's counters in Prometheus text format"
}
