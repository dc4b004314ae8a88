import CSystemd
import Glibc

/// Finds out which unit of the service manager a process belongs to.
package enum CallerUnit {
    /// The system unit of a process, such as `health-sync.service`; `nil` when it is in none.
    ///
    /// libsystemd reads the whole path of the process's control group. The last component alone would not do: a
    /// service that may make groups of its own can name one like another unit.
    package static func name(ofProcess process: Int32) throws(UnitUnknown) -> String? {
        // 0 would mean this process itself (it is what the kernel says of a process that we cannot see), and negative numbers
        // name no process.
        guard process > 0 else { throw UnitUnknown(errno: ESRCH) }
        var unit: UnsafeMutablePointer<CChar>?
        let result = sd_pid_get_unit(process, &unit)
        if result == -ENODATA { return nil }
        guard result >= 0, let unit else { throw UnitUnknown(errno: -result) }
        defer { free(unit) }
        return String(cString: unit)
    }
}

/// It cannot be learnt whether a process is in a unit: it has gone, or its control group cannot be read.
package struct UnitUnknown: Error, Equatable {
    /// The system's reason.
    package let errno: Int32
}
