import Foundation
import JunctionTesting
import Testing

@testable import SandboxCloud

/// Tests that foreign web pages and other users of the machine get nothing from the sandbox.
struct LocalRequestTests {
    @Test(arguments: [
        "evil.example", "evil.example:PORT", "127.0.0.1:1", "127.0.0.1", "10.0.0.1:PORT", "[::2]:PORT", "",
    ])
    func `a request for another host is refused`(host: String) async throws {
        try await Sandbox.run { sandbox in
            let host = host.replacingOccurrences(of: "PORT", with: "\(sandbox.client.port)")

            let answer = try await sandbox.get("/sandbox/users", headers: ["Host": host])

            #expect(answer.status == 403)
        }
    }

    @Test(arguments: ["127.0.0.1:PORT", "localhost:PORT", "[::1]:PORT", "127.9.8.7:PORT"])
    func `each name of this machine is accepted as the host`(host: String) async throws {
        try await Sandbox.run { sandbox in
            let host = host.replacingOccurrences(of: "PORT", with: "\(sandbox.client.port)")

            let answer = try await sandbox.get("/sandbox/users", headers: ["Host": host])

            #expect(answer.status == 200)
        }
    }

    @Test(arguments: [
        ["Origin": "https://evil.example"], ["Origin": "null"], ["Origin": "http://127.0.0.1:1"],
        ["Origin": "https://127.0.0.1:PORT"], ["Sec-Fetch-Site": "cross-site"],
        ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"],
    ])
    func `a page of another origin changes nothing`(headers: [String: String]) async throws {
        try await Sandbox.run { sandbox in
            let headers = headers.mapValues { $0.replacingOccurrences(of: "PORT", with: "\(sandbox.client.port)") }

            let answer = try await sandbox.post("/sandbox/users", ["clientUserId": "mallory"], headers: headers)

            let users = try await sandbox.get("/sandbox/users")
            #expect(answer.status == 403)
            #expect(users.json["users"] == [])
        }
    }

    @Test func `the sandbox's own page may call it`() async throws {
        try await Sandbox.run { sandbox in
            let headers = ["Origin": "http://127.0.0.1:\(sandbox.client.port)", "Sec-Fetch-Site": "same-origin"]

            let answer = try await sandbox.post("/sandbox/reset", headers: headers)

            #expect(answer.status < 300)
        }
    }

    @Test func `an app's page may redirect the browser to the sign-in page`() async throws {
        try await Sandbox.run { sandbox in
            let headers = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"]

            let page = try await sandbox.get("/oauth/authorize", headers: headers)
            let users = try await sandbox.get("/sandbox/users", headers: headers)

            #expect(page.status != 403)
            #expect(users.status == 403)
        }
    }

    @Test func `the origin of a TLS proxy counts as the sandbox's own`() throws {
        let middleware = LocalRequestMiddleware(front: try FrontOrigin("https://localhost:8443"))

        #expect(middleware.isOurs("localhost:8443", 8787))
        #expect(!middleware.isOurs("localhost:8444", 8787))
        #expect(middleware.isOurs(origin: "https://localhost:8443", 8787))
        #expect(!middleware.isOurs(origin: "https://localhost:8787", 8787))
    }

    @Test func `only the owner may read the state file, even if it replaces a readable one`() async throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/state.json"
        let file = StateFile(path: path)

        for _ in 1...2 {
            try file.save(CloudState())

            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        }
        #expect(folder.names == ["state.json"])
    }
}
