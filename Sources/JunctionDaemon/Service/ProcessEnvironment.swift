import FoundationEssentials
import Glibc

/// The environment of this process. No other type reads it from the system; callers pass the values on.
package struct ProcessEnvironment: Sendable {
    package var variables: [String: String]
    package var processID: Int32
    /// The home directory of the user database, for services that have no `HOME`.
    package var home: String?
    /// The absolute path of the running program.
    package var executable: String?

    /// Reads the environment from the system.
    package static func current() -> ProcessEnvironment {
        ProcessEnvironment(
            variables: ProcessInfo.processInfo.environment,
            processID: getpid(),
            home: getpwuid(getuid()).flatMap { String(cString: $0.pointee.pw_dir) },
            executable: executablePath()
        )
    }

    private static func executablePath() -> String? {
        let path = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { room, count in
            room.withMemoryRebound(to: CChar.self) { room in
                guard let start = room.baseAddress else { return }
                count = max(readlink("/proc/self/exe", start, room.count), 0)
            }
        }
        return String(validating: path, as: UTF8.self).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
}
