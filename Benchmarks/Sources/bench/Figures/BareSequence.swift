import Glibc

/// The minimum of a durable replacement of a file: open, write, `fsync`, rename, and `fsync` of the directory.
struct BareSequence {
    private let directory: Int32
    private let bytes = [UInt8](repeating: 0x61, count: 1_500)

    init(in folder: String) throws {
        directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try check(directory >= 0, "open")
    }

    func write() throws {
        let file = openat(directory, "bare.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try check(file >= 0, "create")
        defer { close(file) }
        try check(Glibc.write(file, bytes, bytes.count) == bytes.count, "write")
        try check(fsync(file) == 0, "fsync")
        try check(renameat(directory, "bare.new", directory, "bare") == 0, "rename")
        try check(fsync(directory) == 0, "fsync of the directory")
    }

    private func check(_ isDone: Bool, _ step: String) throws {
        guard isDone else { throw Trouble("\(step): \(String(cString: strerror(errno)))", code: errno) }
    }
}
