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

    private func fault(creatingAt path: String) -> SocketFault? {
        do throws(SocketFault) {
            _ = try ListeningSocket(creatingAt: path)
            return nil
        } catch {
            return error
        }
    }

    /// Leaves a socket file on which no program listens.
    private func leaveStaleSocket() {
        // A child process of another test may hold the descriptor until its `exec`, so closing it is not enough.
        try? TestListener(.path(path)).stop()
    }

    @Test func `a new socket is accessible only to its owner, with any umask`() async {
        // Runs in a separate process, because the umask belongs to the whole process.
        await #expect(processExitsWith: .success) {
            let tests = ListeningSocketTests()
            umask(0)

            let socket = try ListeningSocket(creatingAt: tests.path)

            #expect(tests.mode(of: tests.path) == 0o600)
            #expect(socket.path == tests.path)
            #expect(socket.group == getegid())
        }
    }

    @Test func `a missing directory is created for the daemon only`() throws {
        let socket = try ListeningSocket(creatingAt: folder.path + "/run/s")

        #expect(mode(of: folder.path + "/run") == 0o700)
        #expect(socket.path == folder.path + "/run/s")
    }

    @Test func `a missing parent directory is an error with its name`() {
        let fault = fault(creatingAt: folder.path + "/a/b/s")

        #expect(fault?.description.contains("/a/b") == true)
    }

    @Test func `closing unlinks the socket and keeps the lock file`() throws {
        try ListeningSocket(creatingAt: path).close()

        #expect(mode(of: path) == nil)
        #expect(mode(of: path + ".lock") == 0o600)
    }

    @Test func `closing keeps a file that another program has put at the path`() throws {
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

    @Test func `a path whose lock is held is served by another, even if no program listens`() throws {
        let first = try ListeningSocket(creatingAt: path)
        unlink(path)

        let fault = fault(creatingAt: path)

        #expect(
            fault
                == .servedByAnother("Another junctiond serves \(path): stop it, or choose another path for this socket")
        )
        first.close()
        // A process that another test has just forked holds a copy of the lock until its `exec`.
        let deadline = ContinuousClock.now + .seconds(10)
        var last: SocketFault?
        repeat {
            last = self.fault(creatingAt: path)
        } while last != nil && ContinuousClock.now < deadline
        #expect(last == nil)
    }

    @Test func `a live socket is not changed, even if its server uses no lock`() throws {
        let server = try TestListener(.path(path))

        let fault = fault(creatingAt: path)

        #expect(
            fault == .servedByAnother("Another program serves \(path): stop it, or choose another path for this socket")
        )
        #expect(mode(of: path) != nil)
        withExtendedLifetime(server) {}
    }

    @Test func `a live socket with a full queue is recognised as live`() throws {
        let server = try TestListener(.path(path), backlog: 0)
        let waiting = try TestSocket(.path(path))

        let fault = fault(creatingAt: path)

        #expect(
            fault == .servedByAnother("Another program serves \(path): stop it, or choose another path for this socket")
        )
        withExtendedLifetime((server, waiting)) {}
    }

    @Test func `a symbolic link is not followed`() throws {
        symlink("/nowhere", path)

        let fault = fault(creatingAt: path)

        #expect(fault == .impossible("\(path) is not a socket: remove it, or choose another path for this socket"))
    }

    @Test func `a path that is too long is an error with the longest length`() {
        let long = folder.path + "/" + String(repeating: "x", count: 108)

        let fault = fault(creatingAt: long)

        #expect(fault?.description.contains("Linux takes 1 to 107") == true)
    }

    @Test func `the longest path that fits is served`() throws {
        let longest = folder.path + "/" + String(repeating: "x", count: 106 - folder.path.utf8.count)

        _ = try ListeningSocket(creatingAt: longest)
    }

    @Test func `a passed socket has its path and group, and its file stays`() throws {
        let kept = try TestListener(.path(path))
        let passed = dup(kept.descriptor)

        let adopted = ListeningSocket(adopting: passed)
        #expect(adopted.path == path)
        #expect(adopted.group == getegid())
        #expect(fcntl(passed, F_GETFD) & FD_CLOEXEC != 0)
        adopted.close()

        #expect(mode(of: path) != nil)
        #expect(mode(of: path + ".lock") == nil)
    }
}
