import Glibc

/// Holds the lock of a state directory for the lifetime of this object, so that no second daemon renews the same
/// session.
///
/// The lock file is never removed. If it were, two daemons could each lock a file of their own.
package final class InstanceLock: Sendable {
    private let descriptor: Int32

    /// Why the lock could not be taken.
    package enum Refusal: Error, Equatable, Sendable, CustomStringConvertible {
        /// Another daemon holds the lock. Its process id is nil if it has not written it yet.
        case held(by: Int32?, directory: String)
        case fault(FileFault)

        package var description: String {
            switch self {
            case .held(let process, let directory):
                """
                Another junctiond\(process.map { " (process \($0))" } ?? "") is using \(directory). \
                Stop it, or give this one a directory of its own.
                """
            case .fault(let fault):
                fault.description
            }
        }
    }

    /// The number of attempts to take the lock of a process that has ended, with a pause of 10 ms between two.
    private static let mostAttempts = 200

    /// Takes the lock, or throws at once if another daemon holds it.
    ///
    /// If the holder was killed while it started its network helper, the new process holds the lock until it ends or
    /// calls execve(2). So for a holder that has ended, this waits for up to two seconds.
    ///
    /// - Parameter pause: waits between two attempts.
    package init(_ directory: StateDirectory, pause: () -> Void = { usleep(10_000) }) throws(Refusal) {
        let location = directory.location(of: .lock)
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let opened = openat(directory.descriptor, StateFile.lock.path, flags, 0o600)
        guard opened >= 0 else { throw .fault(FileFault("open", location, code: errno)) }
        var attempts = 0
        while flock(opened, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            let holder = Self.process(writtenIn: opened)
            attempts += 1
            if code == EWOULDBLOCK, attempts < Self.mostAttempts, let holder, Self.hasEnded(holder) {
                pause()
                continue
            }
            close(opened)
            guard code == EWOULDBLOCK else { throw .fault(FileFault("lock", location, code: code)) }
            throw .held(by: holder, directory: directory.path)
        }
        descriptor = opened
        note(process: getpid())
    }

    deinit {
        close(descriptor)
    }

    /// Writes the process id for a daemon that finds the lock taken. If the disk is full, the lock is still valid.
    private func note(process: Int32) {
        let line = Array("\(process)\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = pwrite(descriptor, line, line.count, 0)
    }

    private static func hasEnded(_ process: Int32) -> Bool { kill(process, 0) != 0 && errno == ESRCH }

    private static func process(writtenIn descriptor: Int32) -> Int32? {
        var line = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &line, line.count, 0)
        guard count > 0 else { return nil }
        return Int32(String(decoding: line[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }
}
