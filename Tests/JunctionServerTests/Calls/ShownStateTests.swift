import JunctionJSON
import JunctionProtocol
import JunctionServer
import JunctionTesting
import Testing

/// The part of the session state that a caller sees.
@Suite(.needsRoot)
struct ShownStateTests {
    private func serve(_ capabilities: [Capability]) throws -> TestServer {
        try TestServer(AccessPolicy(rules: [AccessRule(allow: Set(capabilities))], daemonUser: 0), mode: 0o666)
    }

    private func members(of value: JSONValue) -> Set<String> {
        Set(value.members.compactMap { name, _ in name.string })
    }

    @Test(arguments: [[Capability.token], [.token, .api], [.token, .manage]])
    func `without status, renew returns only the state and the times of the token`(
        capabilities: [Capability]
    ) throws {
        let server = try serve(capabilities)
        _ = try server.connectSignedIn()
        let caller = try OrdinaryCaller().connect(server.path)

        let renewed = try caller.result(of: "session.renew")

        #expect(members(of: renewed) == ["state", "accessToken"])
        #expect(renewed.state == "established")
        #expect(renewed["accessToken"]?["generation"]?.integer == 2)
        #expect(try caller.error(of: "session.status").code == 1007)
    }

    @Test func `with status, renew returns the whole state`() throws {
        let server = try serve([.token, .status])
        _ = try server.connectSignedIn()
        let caller = try OrdinaryCaller().connect(server.path)

        let renewed = try caller.result(of: "session.renew")

        #expect(renewed.text == (try caller.result(of: "session.status").text))
    }
}
