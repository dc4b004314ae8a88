import JunctionJSON
import JunctionProtocol
import JunctionServer
import JunctionSession
import JunctionTesting
import Testing

/// A caller that ends before its device sign-in is approved.
@Suite(.needsRoot)
struct AbsentCallerTests {
    private static let policy = AccessPolicy(
        rules: [AccessRule(allow: [.status, .manage], unit: "kiosk.service")],
        daemonUser: 0
    )

    /// A program of the unit begins a device sign-in, receives its codes, and ends. Then an unchanged configuration is
    /// reloaded.
    @Test(arguments: [false, true])
    func `a reload that withdraws no right keeps the sign-in of a caller that has gone`(reloads: Bool) throws {
        let server = try TestServer(Self.policy, mode: 0o666, unitOfProcess: { _ in "kiosk.service" })
        let caller = try ConnectingProcess(server.path)
        let codes = try caller.connection.result(of: "session.signIn", #"{"scheme":"device"}"#)
        #expect(codes["authorization"]?["userCode"]?.string == "USER-1")
        try caller.end()

        if reloads { try server.reload(Self.policy) }

        server.provider.approve(by: "alice")
        try server.pass(.seconds(6))
        let client = try server.connect()
        var status = try client.result(of: "session.status")
        for _ in 0..<20 where status.state != "established" { status = try client.result(of: "session.status") }
        #expect(status.state == "established", "\(status["renewal"]?["lastError"]?.string ?? "")")
    }

    @Test func `a reload that withdraws the right ends the device sign-in of a caller that has gone`() throws {
        let server = try TestServer(Self.policy, mode: 0o666, unitOfProcess: { _ in "kiosk.service" })
        let client = try server.connect()
        try Self.call(server, client) { _ = try $0.result(of: "session.signIn", #"{"scheme":"device"}"#) }
        #expect(try client.result(of: "session.status").state == "establishing")

        let policy = AccessPolicy(rules: [AccessRule(allow: [.status], unit: "kiosk.service")], daemonUser: 0)
        try server.reload(policy)

        #expect(try client.result(of: "session.status").state == "notLoggedIn")
    }

    @Test(arguments: [false, true])
    func `a restarted daemon knows which caller began a device sign-in`(mayManage: Bool) throws {
        let first = try TestServer(Self.policy, mode: 0o666, unitOfProcess: { _ in "kiosk.service" })
        try Self.call(first, try first.connect()) { _ = try $0.result(of: "session.signIn", #"{"scheme":"device"}"#) }

        let allowed: Set<Capability> = mayManage ? [.status, .manage] : [.status]
        let policy = AccessPolicy(rules: [AccessRule(allow: allowed, unit: "kiosk.service")], daemonUser: 0)
        let second = try TestServer(policy, store: first.store)

        let state = try second.connect().result(of: "session.status").state
        #expect(state == (mayManage ? "establishing" : "notLoggedIn"))
    }

    @Test func `after a reload adds the first unit entry, a disconnected caller of another unit keeps its rights`()
        throws
    {
        let ofUser = AccessRule(allow: [.status, .manage], user: OrdinaryCaller().user)
        let ofUnit = AccessRule(allow: [.status], unit: "kiosk.service")
        let server = try TestServer(
            AccessPolicy(rules: [ofUser], daemonUser: 0),
            mode: 0o666,
            unitOfProcess: { _ in nil }
        )
        let client = try server.connect()
        let reload = { try server.reload(AccessPolicy(rules: [ofUnit, ofUser], daemonUser: 0)) }
        try Self.call(server, client) { caller in
            _ = try caller.result(of: "session.signIn", #"{"scheme":"device"}"#)
            try reload()
        }

        try reload()

        #expect(try client.result(of: "session.status").state == "establishing")
    }

    @Test func `a caller that goes while it waits for a token is neither refused nor given one`() throws {
        let policy = AccessPolicy(rules: [AccessRule(allow: [.token], unit: "kiosk.service")], daemonUser: 0)
        let server = try TestServer(policy, mode: 0o666, unitOfProcess: { _ in "kiosk.service" })
        let client = try server.connectSignedIn()
        let served = try server.counters.tokensServed
        server.provider.hold()
        try server.pass(.seconds(4_000))
        try Self.call(server, client) { caller in
            try caller.sendLine(#"{"jsonrpc":"2.0","id":1,"method":"token.get"}"#)
            // When this is answered, the daemon has read the earlier line.
            try caller.sendLine(#"{"jsonrpc":"2.0","id":2,"method":"access.whoami"}"#)
            #expect(try caller.receiveValue()["id"]?.integer == 2)
        }

        server.provider.release()
        while try client.result(of: "session.status").state != "established" {}

        #expect(try server.counters.refusals == 0, "\(server.audit.lines)")
        #expect(try server.counters.tokensServed == served)
    }

    /// Makes a call from a program of the unit, ends that program, and waits until the daemon has noticed that the
    /// connection has ended.
    private static func call(_ server: TestServer, _ client: TestClient, _ body: (TestClient) throws -> Void) throws {
        // When this is answered, the daemon has accepted the client's connection.
        _ = try client.result(of: "session.status")
        let before = try server.counters.openConnections
        do {
            let caller = try ConnectingProcess(server.path)
            try body(caller.connection)
            try caller.end()
        }
        while try server.counters.openConnections > before { _ = try client.result(of: "session.status") }
    }
}
