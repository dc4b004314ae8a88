import Foundation
import JunctionTesting
import Logging
import Testing

@testable import SandboxCloud

@Suite struct StartTests {
    private let folder = TemporaryFolder()

    @Test(arguments: [
        ("127.0.0.1:8787", "127.0.0.1", 8787), ("127.3.2.1:0", "127.3.2.1", 0), ("[::1]:80", "::1", 80),
        ("localhost:8787", "127.0.0.1", 8787),
    ])
    func `a loopback address is accepted`(text: String, host: String, port: Int) throws {
        let address = try ListenAddress(text)

        #expect(address.host == host && address.port == port)
    }

    @Test(arguments: [
        "0.0.0.0:8787", "192.168.1.2:8787", "[::]:8787", "example.org:80", "128.0.0.1:1", "127.0.0.1.example.org:1",
        "127.1:1", ":8787",
    ])
    func `an address that other machines could reach is refused`(text: String) {
        #expect(throws: StartFailure.self) { try ListenAddress(text) }
    }

    @Test(arguments: ["127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:http", ""])
    func `an address without a port is refused`(text: String) {
        #expect(throws: StartFailure.self) { try ListenAddress(text) }
    }

    @Test func `a restart with a state file keeps users, families and the grace`() async throws {
        let file = folder.path + "/state.json"
        let (user, first) = try await Sandbox.run(stateFile: file) {
            $0.settings.general.rotationGrace = 3_600
        } _: { sandbox in
            let user = try await sandbox.user()
            let first = try await sandbox.signIn(user)
            _ = try Tokens(try await sandbox.refresh(first.refresh))
            _ = try await sandbox.post("/sandbox/clock", ["advanceSeconds": .integer(1_800)])
            return (user, first)
        }

        try await Sandbox.run(stateFile: file) {
            $0.settings.general.rotationGrace = 3_600
        } _: { sandbox in
            #expect(try await sandbox.get("/v2/user/\(user)", headers: Sandbox.bearer(first)).status == 200)
            #expect(try await sandbox.refresh(first.refresh).status == 200)
            _ = try await sandbox.post("/sandbox/clock", ["advanceSeconds": .integer(1_800)])
            #expect(try await sandbox.refresh(first.refresh).status == 401)
            #expect(try await sandbox.counters().familyRevocations == 1)
        }
    }

    @Test func `an unreadable state file stops the start and is not changed`() async throws {
        let file = folder.path + "/state.json"
        try "not the state".write(toFile: file, atomically: true, encoding: .utf8)

        let failure = await #expect(throws: StartFailure.self) {
            try await Sandbox.run(stateFile: file) { _ in }
        }

        #expect(failure?.description.contains(file) == true)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "not the state")
    }

    @Test func `a request whose change cannot be saved fails and changes nothing`() async throws {
        try await Sandbox.run(stateFile: folder.path + "/missing/state.json") { sandbox in
            let answer = try await sandbox.post("/sandbox/users", ["clientUserId": "anna"])

            #expect(answer.status == 500)
            #expect(try await sandbox.get("/sandbox/users").json == ["users": []])
        }
    }

    @Test(arguments: ["https://localhost:8443", "https://127.0.0.1:1", "https://[::1]:8443"])
    func `the origin of a TLS proxy is on this machine`(text: String) throws {
        var configuration = SandboxConfiguration(listen: try ListenAddress("127.0.0.1:8787"))
        #expect(configuration.origin(port: 8787) == "http://127.0.0.1:8787")

        configuration.front = try FrontOrigin(text)

        #expect(configuration.origin(port: 8787) == text)
        #expect(configuration.scheme == "https")
    }

    @Test(arguments: [
        "http://localhost:8443", "https://localhost", "https://localhost:8443/", "https://localhost:0",
        "https://sandbox.example:8443", "localhost:8443", "",
    ])
    func `an invalid origin of a TLS proxy is refused`(text: String) {
        #expect(throws: StartFailure.self) { try FrontOrigin(text) }
    }

    @Test func `a port in use stops the start and is named in the error`() async throws {
        try await Sandbox.run { sandbox in
            let failure = await #expect(throws: StartFailure.self) {
                try await Sandbox.run {
                    $0.listen = try ListenAddress("127.0.0.1:\(sandbox.client.port)")
                } _: { _ in
                }
            }

            #expect(failure?.description.contains(":\(sandbox.client.port)") == true)
        }
    }
}
