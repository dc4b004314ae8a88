import Dispatch
import Glibc
import JunctionJSON
import JunctionProtocol
import JunctionSession
import JunctionTesting
import NIOCore
import Synchronization
import Testing

@testable import JunctionServer

/// Callers that are identified by their unit. A separate process connects for them, like the child of a shell.
@Suite(.needsRoot)
struct CallerUnitRightsTests {
    private let everybody = AccessRule(allow: [.status])
    private let denied = AccessRule(allow: [], unit: "denied.service")
    private let admitted = AccessRule(allow: [.status, .token], unit: "admitted.service")

    private func policy(_ rules: AccessRule...) -> AccessPolicy { AccessPolicy(rules: rules, daemonUser: 0) }

    @Test func `a child that has connected and ended is not taken for a process of another unit`() throws {
        let server = try TestServer(policy(denied, everybody), mode: 0o666) { _ in nil }
        let release = server.holdLoop()
        let child = try ConnectingProcess(server.path)
        try child.end()
        release.signal()

        #expect(try child.connection.error(of: "session.status").code == 1007)
    }

    @Test func `a child with an unknown unit has no right that depends on an entry by unit`() throws {
        struct Unreadable: Error {}
        let server = try TestServer(policy(denied, everybody), mode: 0o666) { _ in throw Unreadable() }
        let child = try ConnectingProcess(server.path)

        #expect(try child.connection.error(of: "session.status").code == 1007)
        try child.end()
    }

    @Test func `the rights of a unit end with the process that connected, not with the connection`() throws {
        let server = try TestServer(policy(admitted, everybody), mode: 0o666) { _ in "admitted.service" }
        let child = try ConnectingProcess(server.path)
        #expect(try child.connection.error(of: "token.get").code == 1003)
        _ = try child.connection.result(of: "session.subscribe")

        try child.end()
        #expect(try child.connection.error(of: "token.get").code == 1007)

        // The connection does not receive later states either.
        _ = try server.connectSignedIn()
        #expect(try child.connection.receiveLine() == nil)
    }

    @Test func `the first entry by unit applies to connections that were opened before it`() throws {
        let units = Mutex<[Int32: String]>([:])
        let server = try TestServer(policy(everybody), mode: 0o666) { process in units.withLock { $0[process] } }
        let (insider, outsider) = (try ConnectingProcess(server.path), try ConnectingProcess(server.path))
        let gone = try ConnectingProcess(server.path)
        units.withLock { $0 = [insider.process: "denied.service"] }
        for child in [insider, outsider, gone] {
            #expect(try child.connection.result(of: "session.status").state == "notLoggedIn")
        }
        try gone.end()

        let stricter = policy(denied, everybody)
        try server.reload(stricter)

        #expect(try insider.connection.error(of: "session.status").code == 1007)
        #expect(try gone.connection.error(of: "session.status").code == 1007)
        // Before Linux 6.5, the kernel cannot identify that process.
        let code = try outsider.connection.call("session.status")["error"]?.code
        #expect(code == (Self.kernelNamesPeers ? nil : 1007))
        try insider.end()
        try outsider.end()
    }

    /// Whether the kernel can open the process behind a connection.
    private static var kernelNamesPeers: Bool {
        guard let (one, other) = try? makeSocketPair() else { return false }
        defer { for end in [one, other] { close(end) } }
        return ProcessHandle(connectedTo: one, numbered: nil) != nil
    }
}

struct ProcessHandleTests {
    @Test func `a process counts as ended as soon as it ends, before its parent reaps it`() throws {
        let child = try Spawning("/bin/sleep", ["1000"]).start()
        let handle = try #require(ProcessHandle(of: child))
        #expect(!handle.hasEnded)

        kill(child, SIGKILL)
        var information = siginfo_t()
        try #require(waitid(P_PID, UInt32(child), &information, WEXITED | WNOWAIT) == 0)

        #expect(handle.hasEnded)
        waitpid(child, nil, 0)
        #expect(ProcessHandle(of: .max) == nil)
    }
}
