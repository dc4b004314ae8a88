import Glibc
import JunctionJSON
import JunctionProtocol
import JunctionSession
import JunctionTesting
import NIOCore
import Synchronization
import Testing

@testable import JunctionServer

/// Callers that are known by their unit: a process of its own connects for them, as a shell's child does.
@Suite(.enabled(if: OrdinaryCaller.isPossible, "Only root can connect as somebody else"))
struct CallerUnitTests {
    private let everybody = AccessRule(allow: [.status])
    private let denied = AccessRule(allow: [], unit: "denied.service")
    private let admitted = AccessRule(allow: [.status, .token], unit: "admitted.service")

    private func policy(_ rules: AccessRule...) -> AccessPolicy { AccessPolicy(rules: rules, daemonUser: 0) }

    @Test func `a child that connects and is gone before anybody looks is not taken for one of another unit`() throws {
        let server = try TestServer(policy(denied, everybody), mode: 0o666) { _ in nil }
        let hold = try Hold(of: server)
        let child = try ConnectingProcess(server.path)
        try child.end()
        hold.end()

        #expect(try child.connection.error(of: "session.status").code == 1007)
    }

    @Test func `a child whose unit cannot be learnt may do nothing that an entry by unit would decide`() throws {
        struct Unreadable: Error {}
        let server = try TestServer(policy(denied, everybody), mode: 0o666) { _ in throw Unreadable() }
        let child = try ConnectingProcess(server.path)

        #expect(try child.connection.error(of: "session.status").code == 1007)
        try child.end()
    }

    @Test func `what a unit may do ends with the process that connected, whoever holds the connection`() throws {
        let server = try TestServer(policy(admitted, everybody), mode: 0o666) { _ in "admitted.service" }
        let child = try ConnectingProcess(server.path)
        #expect(try child.connection.error(of: "token.get").code == 1003)
        _ = try child.connection.result(of: "session.subscribe")

        try child.end()
        #expect(try child.connection.error(of: "token.get").code == 1007)

        // Neither is it told what happens from now on.
        _ = try server.connectSignedIn()
        #expect(try child.connection.hear() == nil)
    }

    @Test func `the first entry by unit holds for connections that were there before it`() throws {
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
        try server.onLoop { [server = server.server] in server.reload(policy: stricter, exposesApi: true) }

        #expect(try insider.connection.error(of: "session.status").code == 1007)
        #expect(try gone.connection.error(of: "session.status").code == 1007)
        // Before Linux 6.5 nobody can say who that was.
        let code = try outsider.connection.call("session.status")["error"]?.code
        #expect(code == (Self.kernelNamesPeers ? nil : 1007))
        try insider.end()
        try outsider.end()
    }

    /// Whether the kernel opens the process behind a connection.
    private static var kernelNamesPeers: Bool {
        guard let (one, other) = try? makeSocketPair() else { return false }
        defer { for end in [one, other] { close(end) } }
        return ProcessHandle(connectedTo: one, numbered: nil) != nil
    }
}

struct ProcessHandleTests {
    @Test func `a process is there until it has ended, also before its parent has noticed`() throws {
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

/// The loop of a server, held, so that nothing is accepted meanwhile.
private final class Hold {
    private let go = Signal()

    init(of server: TestServer) throws {
        let held = Signal()
        server.loop.execute { [go] in
            held.give()
            go.wait()
        }
        held.wait()
    }

    func end() { go.give() }
}
