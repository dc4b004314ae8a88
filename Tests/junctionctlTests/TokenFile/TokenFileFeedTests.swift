import Foundation
import JunctionTesting
import Testing

/// Tests of `junctionctl token --output --follow` against a daemon whose answers the test chooses.
struct TokenFileFeedTests {
    private let folder = TemporaryFolder()
    private let manager: FakeServiceManager
    private let listener: TestListener
    private let program: Program
    private let peer: TestSocket

    init() throws {
        manager = try FakeServiceManager(.path)
        listener = try TestListener(.path(folder.path + "/daemon.sock"))
        try folder.makeFolder("files")
        program = try Program(
            "junctionctl",
            ["--socket", folder.path + "/daemon.sock", "token", "--output", folder.path + "/files/token", "--follow"],
            in: folder,
            // Otherwise the Swift runtime prints a backtrace at SIGQUIT.
            environment: ["NOTIFY_SOCKET": manager.name, "SWIFT_BACKTRACE": "enable=no"]
        )
        peer = try #require(listener.accept())
    }

    private var content: String? { folder.read("files/token").map { String(decoding: $0, as: UTF8.self) } }

    /// Reads the program's next request and returns its id.
    private func request(_ method: String) throws -> Int {
        let line = try #require(try peer.lines.next())
        let message = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(message["method"] as? String == method)
        return try #require(message["id"] as? Int)
    }

    private func answer(_ method: String, _ result: String) throws {
        try peer.send(#"{"jsonrpc":"2.0","id":\#(try request(method)),"result":\#(result)}"# + "\n")
    }

    private func refuseToken(
        _ error: String = #"{"code":1011,"message":"Busy","data":{"kind":"busy","retryAfter":0.01}}"#
    ) throws {
        try peer.send(#"{"jsonrpc":"2.0","id":\#(try request("token.get")),"error":\#(error)}"# + "\n")
    }

    private func change(to snapshot: String) throws {
        try peer.send(#"{"jsonrpc":"2.0","method":"session.changed","params":{"snapshot":\#(snapshot)}}"# + "\n")
    }

    private func giveToken(_ text: String, of user: String) throws {
        try answer(
            "token.get",
            #"{"accessToken":"\#(text)","tokenType":"Bearer","expiresAt":"2999-01-01T00:00:00Z","userId":"\#(user)"}"#
        )
        try manager.wait("the token") { $0.hasPrefix("STATUS=the token is written") }
    }

    private func snapshot(_ user: String?, expiresAt: String = "2999-01-01T00:00:00Z", isReadable: Bool = true)
        -> String
    {
        let token = #"{"issuedAt":"2026-11-21T06:20:34Z","expiresAt":"\#(expiresAt)","generation":3}"#
        return """
            {"revision":1,"changedAt":"2026-11-21T06:20:34Z","state":"\(user == nil ? "notLoggedIn" : "established")",\
            "flags":["configured"\(user == nil ? "" : #","signedIn""#)],"provider":"junction",\
            "userId":\(user.map { "\"\($0)\"" } ?? "null"),"accessToken":\(user == nil ? "null" : token),\
            "renewal":{"phase":"none","failures":0},"storage":{"sealedWith":"file","durable":true,\
            "status":"\(isReadable ? "ok" : "locked")","readable":\(isReadable)}}
            """
    }

    @Test func `after a switch of users the old token is gone before the new one is asked for`() throws {
        try answer("session.subscribe", snapshot("alice"))
        try giveToken("A", of: "alice")
        #expect(content == "A")

        try change(to: snapshot("bob"))
        try refuseToken()

        let id = try request("token.get")
        #expect(content == nil)
        let token = #"{"accessToken":"B","tokenType":"Bearer","expiresAt":"2999-01-01T00:00:00Z","userId":"bob"}"#
        try peer.send(#"{"jsonrpc":"2.0","id":\#(id),"result":\#(token)}"# + "\n")
        try manager.wait("bob's token") { $0.hasPrefix("STATUS=the token is written") }
        #expect(content == "B")
    }

    @Test func `a daemon that gives no token does not hold up the start`() throws {
        try answer("session.subscribe", snapshot("alice"))
        try refuseToken()

        let lines = try manager.wait("the start") { $0.hasPrefix("STATUS=") }

        #expect(lines.contains("READY=1"))
        #expect(lines.last == "STATUS=there is no token: Busy")
        try giveToken("A", of: "alice")
    }

    @Test func `an expired token does not hold up the start`() throws {
        try answer("session.subscribe", snapshot("alice", expiresAt: "2026-11-21T07:20:34Z"))

        #expect(try manager.wait(for: "STATUS=waiting for a valid token").contains("READY=1"))
        #expect(content == nil)
    }

    @Test func `a session that the daemon cannot read does not hold up the start, and the file stays`() throws {
        try folder.write("earlier", to: "files/token")
        try answer("session.subscribe", snapshot(nil, isReadable: false))

        #expect(try manager.wait(for: "STATUS=the daemon cannot read the stored session").contains("READY=1"))
        #expect(content == "earlier")
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func `at its end the program removes its own file`(signal: Int32) throws {
        try answer("session.subscribe", snapshot("alice"))
        try giveToken("A", of: "alice")

        program.signal(signal)

        #expect(try program.wait().status == signal)
        #expect(content == nil)
        #expect(!program.errors.contains("the daemon cannot be reached"))
    }

    @Test func `at its end the program leaves a file that another program has put there`() throws {
        try answer("session.subscribe", snapshot("alice"))
        try giveToken("A", of: "alice")
        let other = try folder.write("other", to: "files/other")
        try #require(rename(other, folder.path + "/files/token") == 0)

        program.signal(SIGTERM)
        try program.wait()

        #expect(content == "other")
    }

    @Test func `at its end the program leaves a file that it never wrote`() throws {
        try folder.write("earlier", to: "files/token")
        try answer("session.subscribe", snapshot("alice"))
        _ = try request("token.get")

        program.signal(SIGTERM)
        try program.wait()

        #expect(content == "earlier")
    }

    @Test func `a refusal removes a token that an earlier process has left`() throws {
        try folder.write("earlier.0123456789abcdef", to: "files/token")
        try answer("session.subscribe", snapshot("alice"))

        try refuseToken(#"{"code":1007,"message":"Denied","data":{"kind":"permissionDenied"}}"#)

        try #require(program.wait().status == 77)
        #expect(content == nil)
    }

    @Test func `a sign-out leaves a file that another program has put there`() throws {
        try answer("session.subscribe", snapshot("alice"))
        try giveToken("A", of: "alice")
        let other = try folder.write("other", to: "files/other")
        try #require(rename(other, folder.path + "/files/token") == 0)

        try change(to: snapshot(nil))

        try manager.wait("the sign-out") { $0.hasPrefix("STATUS=no user is signed in, and the file stays") }
        #expect(content == "other")
    }

    @Test func `while no user is signed in, a file without a token stays`() throws {
        try folder.write("notes\n", to: "files/token")
        try answer("session.subscribe", snapshot(nil))

        try manager.wait("the start") { $0.hasPrefix("STATUS=no user is signed in, and the file stays") }
        #expect(content == "notes\n")
    }

    @Test func `a failed removal is reported and repeated`() throws {
        try answer("session.subscribe", snapshot("alice"))
        try giveToken("A", of: "alice")
        let path = folder.path + "/files/token"
        try #require(unlink(path) == 0 && mkdir(path, 0o700) == 0)

        try change(to: snapshot(nil))

        try manager.wait("the failure") { $0.hasPrefix("STATUS=no user is signed in, and the token file cannot be") }
        try #require(rmdir(path) == 0)
        try manager.wait(for: "STATUS=no user is signed in")
        #expect(program.errors.contains("and the token file cannot be"))
    }

    @Test func `after a sign-out a failed write is repeated`() throws {
        try answer("session.subscribe", snapshot("alice"))
        try giveToken("A", of: "alice")
        try change(to: snapshot(nil))
        try manager.wait(for: "STATUS=no user is signed in")
        let path = folder.path + "/files/token"
        try #require(mkdir(path, 0o700) == 0)

        try change(to: snapshot("bob"))
        try answer(
            "token.get",
            #"{"accessToken":"B","tokenType":"Bearer","expiresAt":"2999-01-01T00:00:00Z","userId":"bob"}"#
        )
        try manager.wait("the failure") { $0.hasPrefix("STATUS=the token file cannot be") }
        try #require(rmdir(path) == 0)

        try giveToken("B", of: "bob")
        #expect(content == "B")
    }
}
