/// What the service manager told this process through environment variables.
///
/// A plain value: the program hands the variables in, so that nothing below it looks at the environment.
package struct ServiceEnvironment: Equatable, Sendable {
    /// Where notify messages go (`NOTIFY_SOCKET`).
    package var notifySocket: String?
    /// The folder of passed credentials (`CREDENTIALS_DIRECTORY`).
    package var credentialsDirectory: String?
    /// The folder for durable state (`STATE_DIRECTORY`); the first one, when the unit asks for several.
    package var stateDirectory: String?
    /// Device and inode of the journal's stream, when one of ours leads there (`JOURNAL_STREAM`).
    package var journalStream: String?
    /// How long the service manager waits for a watchdog heartbeat before it kills us, when it watches this process.
    package var watchdog: Duration?
    /// Whether the service manager started this very process, rather than a parent that only passed its variables on.
    package var isUnderServiceManager: Bool
    /// Whether that was the manager of one user (`systemctl --user`), which keeps no key for us.
    package var isUnderUserManager: Bool

    package init(variables: [String: String], processID: Int32) {
        func text(_ name: String) -> String? {
            variables[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        notifySocket = text("NOTIFY_SOCKET")
        credentialsDirectory = text("CREDENTIALS_DIRECTORY")
        stateDirectory = text("STATE_DIRECTORY")?.split(separator: ":").first.map(String.init)
        journalStream = text("JOURNAL_STREAM")
        watchdog = ServiceEnvironment.watchdog(
            microseconds: text("WATCHDOG_USEC"),
            watched: text("WATCHDOG_PID"),
            processID: processID
        )
        // A terminal that was itself started as a service passes NOTIFY_SOCKET or INVOCATION_ID on to whatever runs in
        // it. Credentials are only readable by their own unit, and SYSTEMD_EXEC_PID names the one process it is for.
        isUnderServiceManager =
            credentialsDirectory != nil || text("SYSTEMD_EXEC_PID").flatMap(Int32.init) == processID
        // A user's manager names itself to its services, the system's does not (systemd.exec(5)).
        isUnderUserManager = isUnderServiceManager && text("MANAGERPID") != nil
    }

    private static func watchdog(microseconds: String?, watched: String?, processID: Int32) -> Duration? {
        // Without WATCHDOG_PID it is meant for whoever can read it; with another process's number it is not for us.
        if let watched, Int32(watched) != processID { return nil }
        guard let microseconds = microseconds.flatMap(Int64.init), microseconds > 0 else { return nil }
        return .microseconds(microseconds)
    }
}
