import JunctionClient
import JunctionProtocol
import JunctionText

/// The changed settings that take effect at the next start of the daemon.
struct PendingRestart {
    let settings: [String]
    /// The unit to restart.
    let unit: String

    /// Returns nil if no setting waits, and if the caller may not ask.
    init?(_ options: GlobalOptions) {
        guard let settings = try? options.ask(DaemonInfo.self, NoParams()).value.pendingRestart, !settings.isEmpty
        else {
            return nil
        }
        self.settings = settings
        unit = options.path.instance.unit
    }

    var text: String {
        "needed for changed settings (\(settings.joined(separator: ", "))): systemctl restart \(unit)"
    }

    /// Warns after a success that the daemon still used the old settings.
    func warn() { StandardError.note("warning: a restart is \(text)") }
}
