import JunctionJSON
import JunctionProtocol
import JunctionServer
import JunctionTesting
import Testing

/// The longest line of callers with and without rights.
@Suite(.needsRoot)
struct LineLimitTests {
    private let limit = 4_096
    private let status = #"{"jsonrpc":"2.0","method":"session.status","id":1}"#

    private func serve(_ rules: AccessRule...) throws -> TestServer {
        // A slow machine must not look like a peer that does not close.
        let policy = AccessPolicy(rules: rules, daemonUser: 0)
        return try TestServer(policy, timeouts: .with(\.linger, .seconds(60)), mode: 0o666)
    }

    private func status(of length: Int) -> String {
        status + String(repeating: " ", count: length - status.utf8.count)
    }

    @Test func `an unfinished line of a caller without rights is refused after 4 KiB on every connection`() throws {
        let server = try serve()
        let callers = try (0..<100).map { _ in try OrdinaryCaller().connect(server.path) }

        for caller in callers { try caller.send([UInt8](repeating: UInt8(ascii: "["), count: limit + 1)) }

        for caller in callers {
            let error = try #require(try caller.receiveValue()["error"])
            #expect(error.code == -32600)
            #expect(error["message"]?.string?.contains("4096") == true)
            #expect(try caller.receiveLine() == nil)
        }
    }

    @Test func `a line of 4 KiB of a caller without rights is read, and a longer one is refused`() throws {
        let server = try serve()
        let caller = try OrdinaryCaller().connect(server.path)

        try caller.sendLine(status(of: limit))
        #expect(try caller.receiveValue()["error"]?.code == 1007)

        try caller.sendLine(status(of: limit + 1))
        #expect(try caller.receiveValue()["error"]?.code == -32600)
        #expect(try caller.receiveLine() == nil)
    }

    @Test(arguments: Capability.allCases)
    func `one capability is enough for a line of a mebibyte`(capability: Capability) throws {
        let server = try serve(AccessRule(allow: [capability]))
        let caller = try OrdinaryCaller().connect(server.path)

        let sending = Thread { [line = status(of: 1 << 20)] in try? caller.sendLine(line) }

        #expect(try caller.receiveValue()["error"]?.code == (capability == .status ? nil : 1007))
        sending.join()
    }

    @Test func `a reload that grants a capability also extends the line that has begun`() throws {
        let server = try serve()
        let caller = try OrdinaryCaller().connect(server.path)
        try caller.send(String(repeating: " ", count: limit))
        // When this is answered, the daemon has read the earlier bytes.
        _ = try OrdinaryCaller().connect(server.path).error(of: "session.status")

        let policy = AccessPolicy(rules: [AccessRule(allow: [.status])], daemonUser: 0)
        try server.reload(policy)
        try caller.sendLine(status)

        #expect(try caller.receiveValue()["result"]?.state == "notLoggedIn")
    }
}
