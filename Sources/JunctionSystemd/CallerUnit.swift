import CSystemd
import Glibc

package enum CallerUnit {
    /// Returns the system unit of a process, such as `health-sync.service`; `nil` if it is in none.
    ///
    /// libsystemd reads the whole path of the process's control group. The last component alone would not be safe: a
    /// service that may create control groups can name one like another unit.
    package static func name(ofProcess process: Int32) throws(UnitUnknown) -> String? {
        // Process id 0 would mean this process itself; the kernel reports it for a process that is not visible here.
        // Negative numbers name no process.
        guard process > 0 else { throw UnitUnknown(errno: ESRCH) }
        var unit: UnsafeMutablePointer<CChar>?
        let result = sd_pid_get_unit(process, &unit)
        if result == -ENODATA {
            // libsystemd also gives this answer for a control group that it cannot see.
            guard isVisible(try controlGroup(ofProcess: process)) else { throw UnitUnknown(errno: ENODATA) }
            return nil
        }
        guard result >= 0, let unit else { throw UnitUnknown(errno: -result) }
        defer { free(unit) }
        return String(cString: unit)
    }

    /// Whether the control group is in the daemon's control group namespace. If it is not, its path begins with `/..`
    /// and does not have the names of all units around it.
    static func isVisible(_ controlGroup: String) -> Bool { controlGroup != "/.." && !controlGroup.hasPrefix("/../") }

    private static func controlGroup(ofProcess process: Int32) throws(UnitUnknown) -> String {
        var path: UnsafeMutablePointer<CChar>?
        let result = sd_pid_get_cgroup(process, &path)
        guard result >= 0, let path else { throw UnitUnknown(errno: -result) }
        defer { free(path) }
        return String(cString: path)
    }
}

/// The unit of a process cannot be determined: the process has ended, or its control group cannot be read.
package struct UnitUnknown: Error, Equatable {
    package let errno: Int32
}
