import CLinux
import Glibc

/// A small file in memory that the service manager keeps while this service restarts.
///
/// The file survives a crash and a restart, but not a stop of the unit or a reboot (`FileDescriptorStoreMax=`,
/// systemd.service(5)).
package enum StoredDescriptorFile {
    /// Passes a sealed copy of `bytes`, which no process can change, to the service manager.
    package static func keep(_ bytes: [UInt8], as name: String, by notifier: Notifier) -> Notifier.Delivery {
        let file = clinux_memory_file(name)
        guard file >= 0 else { return .failed(errno: -file) }
        defer { close(file) }
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { write(file, $0.baseAddress! + written, bytes.count - written) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return .failed(errno: errno) }
            written += count
        }
        let failure = clinux_seal_memory_file(file)
        return failure == 0 ? notifier.storeDescriptor(file, named: name) : .failed(errno: failure)
    }

    /// Returns the content of a passed descriptor and closes it; `nil` if it is not a file that `keep` made.
    static func content(of descriptor: Int32, atMost limit: Int) -> [UInt8]? {
        defer { close(descriptor) }
        guard clinux_memory_file_is_sealed(descriptor) == 1 else { return nil }
        // Uses `pread`, because the file offset is shared with the process that wrote the file.
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var count = 0
        while count < bytes.count {
            let read = bytes.withUnsafeMutableBytes { room in
                pread(descriptor, room.baseAddress! + count, room.count - count, off_t(count))
            }
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { return nil }
            if read == 0 { break }
            count += read
        }
        return count <= limit ? Array(bytes.prefix(count)) : nil
    }
}

extension PassedSockets {
    /// Returns the files that were kept under these names, in any order, and removes them from `sockets`.
    ///
    /// - Parameter limit: the longest accepted file, in bytes.
    package mutating func takeKeptFiles(named names: [String], atMost limit: Int) -> [[UInt8]] {
        let kept = sockets.filter { names.contains($0.name) }
        sockets.removeAll { names.contains($0.name) }
        return kept.compactMap { StoredDescriptorFile.content(of: $0.descriptor, atMost: limit) }
    }
}
