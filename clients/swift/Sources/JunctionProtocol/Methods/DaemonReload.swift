/// Reads the configuration again.
package enum DaemonReload: MethodDefinition {
    package typealias Params = NoParams

    package static let name: StaticString = "daemon.reload"
    package static let capability: Capability? = .manage
    package static let summary = "Reads the configuration again; if the daemon refuses it, the old one stays in force"

    /// The answer after the new configuration is in force.
    package struct Answer: Hashable, Sendable {
        /// The keys of the changed settings that take effect at the next restart.
        package var pendingRestart: [String]

        package init(pendingRestart: [String]) {
            self.pendingRestart = pendingRestart
        }
    }
}

extension DaemonReload.Answer: WireObject {
    package static let fields = Fields(
        at: "result",
        DaemonReload.Answer.init(pendingRestart:),
        Field(
            "pendingRestart",
            \.pendingRestart,
            .texts,
            "the settings that were changed and wait for a restart, by their key"
        )
    )
}
