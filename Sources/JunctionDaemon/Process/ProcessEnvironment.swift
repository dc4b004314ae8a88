import FoundationEssentials
import Glibc

/// What this process was started with. The one place that looks; everybody else is handed the values.
package struct ProcessEnvironment: Sendable {
    package var variables: [String: String]
    package var processID: Int32
    /// The home directory of the user database, for services that have no `HOME`.
    package var home: String?

    package init(variables: [String: String], processID: Int32, home: String?) {
        self.variables = variables
        self.processID = processID
        self.home = home
    }

    /// Reads it from the system.
    package static func current() -> ProcessEnvironment {
        ProcessEnvironment(
            variables: ProcessInfo.processInfo.environment,
            processID: getpid(),
            home: getpwuid(getuid()).flatMap { String(cString: $0.pointee.pw_dir) }
        )
    }
}
