import Glibc

/// The physical memory that the process uses.
package enum ResidentMemory {
    /// Returns the size in bytes, or `nil` if the system does not provide it.
    package static func bytes() -> Int? {
        // This file is readable although the process is not dumpable, unlike most files beside it.
        let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 128)
        let count = read(descriptor, &buffer, buffer.count)
        let fields = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self).split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }
}
