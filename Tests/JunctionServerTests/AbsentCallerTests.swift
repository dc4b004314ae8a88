import JunctionJSON
import JunctionProtocol
import JunctionServer
import JunctionSession
import JunctionTesting
import Testing

/// A caller may end before its device sign-in is approved.
@Suite(.enabled(if: OrdinaryCaller.isPossible, "Only root can connect as somebody else"))
struct AbsentCallerTests {
    private static let policy = AccessPolicy(
        rules: [AccessRule(allow: [.status, .manage], unit: "kiosk.service")],
        daemonUser: 0
    )

    /// A program of the unit begins a device sign-in, has its codes, and goes away; the configuration is read again, unchanged.
    @Test(arguments: [false, true])
    func `a reload that takes no right away ends no sign-in whose caller has gone`(reloads: Bool) throws {
        let server = try TestServer(Self.policy, mode: 0o666, unitOfProcess: { _ in "kiosk.service" })
        let caller = try ConnectingProcess(server.path)
        let codes = try caller.connection.result(of: "session.signIn", #"{"scheme":"device"}"#)
        #expect(codes["authorization"]?["userCode"]?.string == "USER-1")
        try caller.end()

        if reloads {
            try server.onLoop { [server = server.server] in server.reload(policy: Self.policy, exposesApi: true) }
        }

        server.provider.approve(by: "alice")
        try server.pass(.seconds(6))
        let client = try server.connect()
        var status = try client.result(of: "session.status")
        for _ in 0..<20 where status.state != "established" { status = try client.result(of: "session.status") }
        #expect(status.state == "established", "\(status["renewal"]?["lastError"]?.string ?? "")")
    }
}
