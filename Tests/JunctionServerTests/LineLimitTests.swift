import JunctionJSON
import JunctionProtocol
import JunctionServer
import JunctionTesting
import Testing

/// How long a line may be, for callers with and without rights.
@Suite(.enabled(if: OrdinaryCaller.isPossible, "Only root can connect as somebody else"))
struct LineLimitTests {
    private let limit = 4_096
    private let status = #"{"jsonrpc":"2.0","method":"session.status","id":1}"#

    private func serve(_ rules: AccessRule...) throws -> TestServer {
        // A busy machine must not look like a peer that does not go.
        var patience = ServerSettings.Patience()
        patience.farewell = .seconds(60)
        return try TestServer(AccessPolicy(rules: rules, daemonUser: 0), patience: patience, mode: 0o666)
    }

    private func status(of length: Int) -> String {
        status + String(repeating: " ", count: length - status.utf8.count)
    }

    @Test func `an unfinished line of a caller without any right is refused after 4 KiB, on every connection`() throws {
        let server = try serve()
        let callers = try (0..<100).map { _ in try OrdinaryCaller().connect(server.path) }

        for caller in callers { try caller.send([UInt8](repeating: UInt8(ascii: "["), count: limit + 1)) }

        for caller in callers {
            let error = try #require(try caller.hearValue()["error"])
            #expect(error.code == -32600)
            #expect(error["message"]?.string?.contains("4096") == true)
            #expect(try caller.hear() == nil)
        }
    }

    @Test func `a whole line of 4 KiB is read from a caller without any right, and no longer one`() throws {
        let server = try serve()
        let caller = try OrdinaryCaller().connect(server.path)

        try caller.say(status(of: limit))
        #expect(try caller.hearValue()["error"]?.code == 1007)

        try caller.say(status(of: limit + 1))
        #expect(try caller.hearValue()["error"]?.code == -32600)
        #expect(try caller.hear() == nil)
    }

    @Test(arguments: Capability.allCases)
    func `any one capability is enough for a line of a mebibyte`(capability: Capability) throws {
        let server = try serve(AccessRule(allow: [capability]))
        let caller = try OrdinaryCaller().connect(server.path)

        let sending = Thread { [line = status(of: 1 << 20)] in try? caller.say(line) }

        #expect(try caller.hearValue()["error"]?.code == (capability == .status ? nil : 1007))
        sending.join()
    }

    @Test func `a reload that grants a capability lengthens the line that has begun`() throws {
        let server = try serve()
        let caller = try OrdinaryCaller().connect(server.path)
        try caller.send(String(repeating: " ", count: limit))
        // The daemon has read that before it answers this.
        _ = try OrdinaryCaller().connect(server.path).error(of: "session.status")

        let policy = AccessPolicy(rules: [AccessRule(allow: [.status])], daemonUser: 0)
        try server.onLoop { [server = server.server] in server.reload(policy: policy, exposesApi: true) }
        try caller.say(status)

        #expect(try caller.hearValue()["result"]?.state == "notLoggedIn")
    }
}
