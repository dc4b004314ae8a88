import JunctionJSON
import JunctionProtocol
import JunctionServer
import JunctionSession
import JunctionTesting
import Testing

/// A sign-in that a person approves on another screen, over the socket: which caller sees which part of it.
struct DeviceSignInSocketTests {
    private let server: TestServer

    init() throws {
        server = try TestServer(
            AccessPolicy(rules: [AccessRule(allow: [.status])], daemonUser: 0),
            mode: 0o666
        )
    }

    private static let device = #"{"scheme":"device"}"#

    @Test func `the answer and the notification contain the codes`() throws {
        let client = try server.connect()
        _ = try client.result(of: "session.subscribe")

        try client.sendLine(#"{"jsonrpc":"2.0","id":1,"method":"session.signIn","params":{"scheme":"device"}}"#)
        var answer: JSONValue?
        var told: [JSONValue] = []
        while told.last?["authorization"]?["userCode"]?.string != "USER-1" || answer == nil {
            let heard = try client.receiveValue()
            if let snapshot = heard["params"]?["snapshot"] { told.append(snapshot) } else { answer = heard["result"] }
        }

        let authorization = try #require(answer?["authorization"])
        #expect(answer?.state == "establishing")
        #expect(authorization["userCode"]?.string == "USER-1")
        #expect(authorization["verificationUri"]?.string == "https://id.example.com/device")
        #expect(
            authorization["verificationUriComplete"]?.string == "https://id.example.com/device?user_code=USER-1"
        )
        #expect(authorization["expiresAt"]?.string == "2026-11-21T00:10:00Z")
        let status = try client.result(of: "session.status")
        #expect(status["authorization"]?.text == authorization.text)
    }

    @Test(.needsRoot)
    func `a caller without manage sees the expiry and no code`() throws {
        let manager = try server.connect()
        let other = try OrdinaryCaller().connect(server.path)
        let watcher = try OrdinaryCaller().connect(server.path)
        _ = try watcher.result(of: "session.subscribe")
        _ = try manager.result(of: "session.signIn", Self.device)

        var snapshots = [try other.result(of: "session.status")]
        while snapshots.last?["authorization"]?["expiresAt"] == nil || snapshots.count < 2 {
            snapshots.append(try #require(try watcher.receiveValue()["params"]?["snapshot"]))
        }
        snapshots.append(try #require(try other.result(of: "session.reconcile", #"{"userId":null}"#)["snapshot"]))
        snapshots.append(try OrdinaryCaller().connect(server.path).result(of: "session.subscribe"))

        for snapshot in snapshots {
            #expect(!snapshot.text.contains("USER-1") && !snapshot.text.contains("id.example.com"))
        }
        #expect(snapshots.last?["authorization"]?["expiresAt"]?.string == "2026-11-21T00:10:00Z")
        // The answer that was prepared for one caller is not sent to the other.
        #expect(try manager.result(of: "session.status").text.contains("USER-1"))
        #expect(try !other.result(of: "session.status").text.contains("USER-1"))
        #expect(try other.error(of: "session.signIn", Self.device).code == 1007)
    }

    @Test func `the daemon polls after the caller has gone, and watchers are notified of the user`() throws {
        let watcher = try server.connect()
        _ = try watcher.result(of: "session.subscribe")
        do {
            let client = try server.connect()
            _ = try client.result(of: "session.signIn", Self.device)
        }
        server.provider.approve(by: "alice")
        try server.pass(.seconds(6))

        var last: JSONValue?
        while last?.state != "established" { last = try watcher.receiveValue()["params"]?["snapshot"] }
        #expect(last?["userId"]?.string == "alice" && last?["scheme"]?.string == "device")
        #expect(last?["authorization"]?.text == "null")
    }

    @Test func `a sign-out cancels the sign-in and removes its codes from every answer`() throws {
        let client = try server.connect()
        _ = try client.result(of: "session.signIn", Self.device)

        let signedOut = try client.result(of: "session.signOut")

        #expect(signedOut.state == "notLoggedIn" && signedOut["authorization"]?.text == "null")
        #expect(try client.result(of: "session.status").text == signedOut.text)
        try server.pass(.seconds(60))
        #expect(server.provider.polls.isEmpty)
    }

    @Test(arguments: ["", #","codeChallenge":"c","codeVerifier":"v""#])
    func `an authorization page needs either a challenge or a verifier`(members: String) throws {
        let client = try server.connect()

        let error = try client.error(
            of: "session.authorizationPage",
            #"{"redirectUri":"http://127.0.0.1:1/","state":"s"\#(members)}"#
        )

        #expect(error.code == -32602)
    }

    @Test func `a provider without an authorization page reports unsupported`() throws {
        let client = try server.connect()

        let error = try client.error(
            of: "session.authorizationPage",
            #"{"redirectUri":"http://127.0.0.1:1/","state":"s","codeChallenge":"c"}"#
        )

        #expect(error.code == 1012 || error["data"]?["kind"]?.string == "unsupported")
    }
}
