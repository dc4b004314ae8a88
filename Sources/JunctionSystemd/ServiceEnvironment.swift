/// The environment variables that the service manager sets for this process.
///
/// The program passes the variables in, so that no lower layer reads the environment.
package struct ServiceEnvironment: Equatable, Sendable {
    /// The socket for notify messages (`NOTIFY_SOCKET`).
    package var notifySocket: String?
    /// The directory of passed credentials (`CREDENTIALS_DIRECTORY`).
    package var credentialsDirectory: String?
    /// The device and inode of the journal's stream, if a stream of this process leads there (`JOURNAL_STREAM`).
    package var journalStream: String?
    /// The watchdog timeout, if the service manager watches this process. Without a heartbeat in this time, it kills
    /// the process.
    package var watchdog: Duration?
    /// Whether the service manager started this process itself, and not a parent that only passed its variables on.
    package var isUnderServiceManager: Bool
    /// Whether it is a user's service manager (`systemctl --user`), which has no sealing key for the daemon.
    package var isUnderUserManager: Bool

    package init(variables: [String: String], processID: Int32) {
        func text(_ name: String) -> String? {
            variables[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        notifySocket = text("NOTIFY_SOCKET")
        credentialsDirectory = text("CREDENTIALS_DIRECTORY")
        journalStream = text("JOURNAL_STREAM")
        watchdog = ServiceEnvironment.watchdog(
            microseconds: text("WATCHDOG_USEC"),
            watched: text("WATCHDOG_PID"),
            processID: processID
        )
        // If a service starts a terminal, the programs in it inherit NOTIFY_SOCKET and INVOCATION_ID. So these prove
        // nothing. But only a credential's own unit can read it, and SYSTEMD_EXEC_PID names the one process that it is
        // meant for.
        isUnderServiceManager =
            credentialsDirectory != nil || text("SYSTEMD_EXEC_PID").flatMap(Int32.init) == processID
        // A user's manager sets MANAGERPID for its services; the system's manager does not (systemd.exec(5)).
        isUnderUserManager = isUnderServiceManager && text("MANAGERPID") != nil
    }

    private static func watchdog(microseconds: String?, watched: String?, processID: Int32) -> Duration? {
        // Without WATCHDOG_PID, the watchdog applies to any process that reads the variable. With the id of another
        // process, it does not apply to this one.
        if let watched, Int32(watched) != processID { return nil }
        guard let microseconds = microseconds.flatMap(Int64.init), microseconds > 0 else { return nil }
        return .microseconds(microseconds)
    }
}
