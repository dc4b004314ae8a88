import Glibc

/// The physical memory that the process uses.
package enum ResidentMemory {
    /// Returns the size in bytes, or `nil` if the system does not provide it.
    package static func bytes() -> Int? {
        // This file is readable although the process is not dumpable, unlike most files beside it.
        guard let text = SmallFile.bytes(at: "/proc/self/statm") else { return nil }
        let fields = String(decoding: text, as: UTF8.self).split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }
}
