import CSystemd
import Glibc

/// Finds out which unit of the service manager a process belongs to.
package enum CallerUnit {
    /// The system unit of a process, such as `health-sync.service`; `nil` when it is in none, or is gone.
    ///
    /// libsystemd reads the whole path of the process's control group. The last component alone would not do: a
    /// service that may make groups of its own can name one like another unit.
    package static func name(ofProcess process: Int32) -> String? {
        // 0 would mean this process itself, and negative numbers name no process.
        guard process > 0 else { return nil }
        var unit: UnsafeMutablePointer<CChar>?
        guard sd_pid_get_unit(process, &unit) >= 0, let unit else { return nil }
        defer { free(unit) }
        return String(cString: unit)
    }
}
