import Foundation
import JunctionServer
import JunctionTesting
import Testing

struct ListeningSocketTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.path + "/s" }

    private func mode(of path: String) -> UInt32? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    private func fault(_ body: () throws(SocketFault) -> ListeningSocket) -> SocketFault? {
        do throws(SocketFault) {
            _ = try body()
            return nil
        } catch {
            return error
        }
    }

    /// A socket file that nobody serves any more.
    private func leaveStaleSocket() {
        _ = try? TestListener(.path(path))
    }

    @Test func `the socket is born for its owner alone, also where the mask allows more`() async {
        // In a process of its own: the mask belongs to the whole process.
        await #expect(processExitsWith: .success) {
            let tests = ListeningSocketTests()
            umask(0)

            let socket = try ListeningSocket(creatingAt: tests.path)

            #expect(tests.mode(of: tests.path) == 0o600)
            #expect(socket.path == tests.path)
            #expect(socket.group == getegid())
        }
    }

    @Test func `a missing folder is made for the daemon alone`() throws {
        let socket = try ListeningSocket(creatingAt: folder.path + "/run/s")

        #expect(mode(of: folder.path + "/run") == 0o700)
        #expect(socket.path == folder.path + "/run/s")
    }

    @Test func `a missing folder of the folder is an error with its name`() {
        let fault = fault { () throws(SocketFault) in try ListeningSocket(creatingAt: folder.path + "/a/b/s") }

        #expect(fault?.description.contains("/a/b") == true)
    }

    @Test func `closing unlinks the socket and keeps the lock file`() throws {
        try ListeningSocket(creatingAt: path).close()

        #expect(mode(of: path) == nil)
        #expect(mode(of: path + ".lock") == 0o600)
    }

    @Test func `closing leaves a file alone that somebody else has put in its place`() throws {
        let socket = try ListeningSocket(creatingAt: path)
        unlink(path)
        leaveStaleSocket()

        socket.close()

        #expect(mode(of: path) != nil)
    }

    @Test func `a stale socket is replaced`() throws {
        leaveStaleSocket()

        _ = try ListeningSocket(creatingAt: path)
    }

    @Test func `a path whose lock is held is somebody else's, also while nobody listens`() throws {
        let first = try ListeningSocket(creatingAt: path)
        unlink(path)

        let fault = fault { () throws(SocketFault) in try ListeningSocket(creatingAt: path) }

        #expect(fault == .servedByAnother("Another junctiond serves \(path): stop it, or choose another --socket"))
        first.close()
        // A process that another test is just starting holds a copy of the lock until its `exec`.
        let deadline = ContinuousClock.now + .seconds(10)
        var last: SocketFault?
        repeat {
            last = self.fault { () throws(SocketFault) in try ListeningSocket(creatingAt: path) }
        } while last != nil && ContinuousClock.now < deadline
        #expect(last == nil)
    }

    @Test func `a live socket is not touched, also when its server knows no lock`() throws {
        let server = try TestListener(.path(path))

        let fault = fault { () throws(SocketFault) in try ListeningSocket(creatingAt: path) }

        #expect(fault == .servedByAnother("Another program serves \(path): stop it, or choose another --socket"))
        #expect(mode(of: path) != nil)
        withExtendedLifetime(server) {}
    }

    @Test func `a live socket whose queue is full is live`() throws {
        let server = try TestListener(.path(path), backlog: 0)
        let waiting = try TestSocket(.path(path))

        let fault = fault { () throws(SocketFault) in try ListeningSocket(creatingAt: path) }

        #expect(fault == .servedByAnother("Another program serves \(path): stop it, or choose another --socket"))
        withExtendedLifetime((server, waiting)) {}
    }

    @Test func `what is not a socket is never removed`() throws {
        try Data("precious".utf8).write(to: URL(filePath: path))

        let fault = fault { () throws(SocketFault) in try ListeningSocket(creatingAt: path) }

        #expect(fault == .impossible("\(path) is not a socket: remove it, or choose another --socket"))
        #expect(FileManager.default.contents(atPath: path) == Data("precious".utf8))
    }

    @Test func `a symbolic link is not followed`() throws {
        symlink("/nowhere", path)

        let fault = fault { () throws(SocketFault) in try ListeningSocket(creatingAt: path) }

        #expect(fault == .impossible("\(path) is not a socket: remove it, or choose another --socket"))
    }

    @Test func `a path that is too long says how long it may be`() {
        let long = folder.path + "/" + String(repeating: "x", count: 108)

        let fault = fault { () throws(SocketFault) in try ListeningSocket(creatingAt: long) }

        #expect(fault?.description.contains("Linux takes 1 to 107") == true)
    }

    @Test func `the longest path that fits is served`() throws {
        let longest = folder.path + "/" + String(repeating: "x", count: 106 - folder.path.utf8.count)

        _ = try ListeningSocket(creatingAt: longest)
    }

    @Test func `a passed socket is taken with its path and group, and its file stays`() throws {
        let kept = try TestListener(.path(path))
        let passed = dup(kept.descriptor)

        let adopted = try ListeningSocket(adopting: passed)
        #expect(adopted.path == path)
        #expect(adopted.group == getegid())
        #expect(fcntl(passed, F_GETFD) & FD_CLOEXEC != 0)
        adopted.close()

        #expect(mode(of: path) != nil)
        #expect(mode(of: path + ".lock") == nil)
    }

    @Test func `a passed descriptor that is no listening stream socket is refused`() {
        let file = open("/dev/null", O_RDONLY)
        let idle = TestAddress.path("").makeSocket()
        defer {
            close(file)
            close(idle)
        }

        for descriptor in [file, idle, -1] {
            #expect(fault { () throws(SocketFault) in try ListeningSocket(adopting: descriptor) } != nil)
        }
    }
}
