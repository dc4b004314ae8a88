import Glibc

/// What no durable replacement of a file can do without: open, write, `fsync`, rename, and `fsync` of the directory.
struct BareSequence {
    private let directory: Int32
    private let bytes = [UInt8](repeating: 0x61, count: 1_500)

    init(in folder: String) throws(Failure) {
        directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw Failure(step: "open", code: errno) }
    }

    struct Failure: Error, CustomStringConvertible {
        let step: String
        let code: Int32

        var description: String { "\(step): \(String(cString: strerror(code)))" }
    }

    func write() throws(Failure) {
        let file = openat(directory, "bare.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try check(file >= 0, "create")
        defer { close(file) }
        try check(Glibc.write(file, bytes, bytes.count) == bytes.count, "write")
        try check(fsync(file) == 0, "fsync")
        try check(renameat(directory, "bare.new", directory, "bare") == 0, "rename")
        try check(fsync(directory) == 0, "fsync of the directory")
    }

    private func check(_ isDone: Bool, _ step: String) throws(Failure) {
        guard isDone else { throw Failure(step: step, code: errno) }
    }
}
