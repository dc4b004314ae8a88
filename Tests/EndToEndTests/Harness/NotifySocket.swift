import Glibc
import JunctionTesting
import Synchronization

/// The service manager's end of the notify protocol: reads one datagram after the other, and keeps what it is given.
final class NotifySocket: Sendable {
    private let manager: FakeServiceManager
    private let store = Mutex<[String: Int32]>([:])

    var path: String { manager.name }
    /// The descriptors in its care, by name (`FDSTORE=1`).
    var kept: [String: Int32] { store.withLock { $0 } }

    init() throws { manager = try FakeServiceManager(.path) }

    /// The next message, as lines.
    func next() throws -> [String] {
        guard manager.isReadable(within: 30), let (text, passed) = manager.receiveWithDescriptor() else {
            throw Program.Failure(description: "No notification came")
        }
        let lines = text.split(separator: "\n").map(String.init)
        mind(lines, passed: passed)
        return lines
    }

    private func mind(_ lines: [String], passed: Int32?) {
        guard let name = lines.first(where: { $0.hasPrefix("FDNAME=") })?.dropFirst("FDNAME=".count) else { return }
        store.withLock { store in
            if lines.contains("FDSTORE=1") { store[String(name)] = passed }
            if lines.contains("FDSTOREREMOVE=1"), let old = store.removeValue(forKey: String(name)) { close(old) }
        }
    }

    /// Reads until a message has a line that fits, and returns all lines up to it.
    @discardableResult
    func wait(_ what: String, for fits: (String) -> Bool) throws -> [String] {
        var lines: [String] = []
        while !lines.contains(where: fits) {
            do {
                lines += try next()
            } catch {
                throw Program.Failure(description: "\(what) was not notified; what came: \(lines)")
            }
        }
        return lines
    }

    @discardableResult
    func wait(for line: String) throws -> [String] {
        try wait(line) { $0 == line }
    }

    /// Waits until the program says that it is ready, or has ended without.
    func waitUntilReady(_ program: Program) throws {
        while !manager.isReadable(within: 1) {
            guard program.isRunning else {
                throw Program.Failure(description: "It ended before it was ready: \(program.errors)")
            }
        }
        try wait(for: "READY=1")
    }

    /// Reads everything that was said up to now, and returns its lines.
    @discardableResult
    func catchUp() throws -> [String] {
        var lines: [String] = []
        while manager.isReadable(within: 0) { lines += try next() }
        return lines
    }

    deinit {
        for descriptor in kept.values { close(descriptor) }
    }
}
