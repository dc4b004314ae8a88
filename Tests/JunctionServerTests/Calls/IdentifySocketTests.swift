import JunctionJSON
import JunctionServer
import JunctionTesting
import Testing

struct IdentifySocketTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
    }

    private func ask(_ client: TestClient, for user: String = "7") throws -> JSONValue {
        try client.sendLine(
            #"{"jsonrpc":"2.0","id":"mine","method":"session.identify","params":{"externalUserId":"\#(user)"}}"#
        )
        let question = try client.receiveValue()
        #expect(question["method"]?.string == "session.authenticate")
        #expect(question["params"]?["externalUserId"]?.string == user)
        return try #require(question["id"])
    }

    @Test func `the caller is asked for a credential on its own connection, and the user is signed in`() throws {
        let client = try server.connect()
        let id = try ask(client)

        try client.sendLine(#"{"jsonrpc":"2.0","id":\#(id.text),"result":{"scheme":"signInToken","token":"alice"}}"#)

        let answer = try client.receiveValue()
        #expect(answer["id"]?.string == "mine")
        #expect(answer["result"]?["outcome"]?.string == "signedIn")
        #expect(answer["result"]?["snapshot"]?["externalUserId"]?.string == "7")
        #expect(server.audit.lines.count == 1)
    }

    @Test(arguments: [
        #""error":{"code":5,"message":"no such user"}"#,
        #""result":{"scheme":"signInToken"}"#,
        #""result":"nonsense""#,
    ])
    func `an error or invalid answer is an invalid credential and changes nothing`(answer: String) throws {
        let client = try server.connect()
        let id = try ask(client)

        try client.sendLine(#"{"jsonrpc":"2.0","id":\#(id.text),\#(answer)}"#)

        let refusal = try client.receiveValue()
        #expect(refusal["id"]?.string == "mine")
        #expect(refusal["error"]?.code == 1002)
        #expect(try client.result(of: "session.status").state == "notLoggedIn")
        #expect(server.provider.exchangeCalls == 0)
    }

    @Test func `an answer that comes too late is dropped`() throws {
        let server = try TestServer(timeouts: .none)
        let client = try server.connect()
        let id = try ask(client)
        #expect(try client.receiveValue()["error"]?.code == 1002)

        try client.sendLine(#"{"jsonrpc":"2.0","id":\#(id.text),"result":{"scheme":"signInToken","token":"alice"}}"#)

        #expect(try client.result(of: "session.status").state == "notLoggedIn")
    }

    @Test func `the end of the input is an invalid credential, and the call is answered`() throws {
        let client = try server.connect()
        _ = try ask(client)

        client.finish()

        #expect(try client.receiveValue()["error"]?.code == 1002)
        #expect(try client.receiveLine() == nil)
    }

    @Test func `after a connection has gone, another one can identify`() throws {
        do { _ = try ask(try server.connect()) }
        let client = try server.connect()
        let id = try ask(client, for: "8")

        try client.sendLine(#"{"jsonrpc":"2.0","id":\#(id.text),"result":{"scheme":"signInToken","token":"bob"}}"#)

        #expect(try client.receiveValue()["result"]?["snapshot"]?["externalUserId"]?.string == "8")
    }

    @Test func `another connection cannot answer the question`() throws {
        let client = try server.connect()
        let id = try ask(client)
        let other = try server.connect()

        try other.sendLine(#"{"jsonrpc":"2.0","id":\#(id.text),"result":{"scheme":"signInToken","token":"mallory"}}"#)
        #expect(try other.result(of: "session.status").state == "notLoggedIn")

        try client.sendLine(#"{"jsonrpc":"2.0","id":\#(id.text),"result":{"scheme":"signInToken","token":"alice"}}"#)
        #expect(try client.receiveValue()["result"]?["snapshot"]?["userId"]?.string == "alice")
    }

    @Test func `an id is compared byte by byte`() throws {
        let client = try server.connect()
        let id = try ask(client, for: "caf\u{E9}")
        try client.sendLine(#"{"jsonrpc":"2.0","id":\#(id.text),"result":{"scheme":"signInToken","token":"alice"}}"#)
        _ = try client.receiveValue()

        let other = try ask(client, for: "cafe\u{301}")
        try client.sendLine(#"{"jsonrpc":"2.0","id":\#(other.text),"result":{"scheme":"signInToken","token":"bob"}}"#)

        let answer = try client.receiveValue()
        #expect(answer["result"]?["outcome"]?.string == "switched")
        #expect(answer["result"]?["snapshot"]?["externalUserId"]?.string?.utf8.count == 6)
    }

    @Test func `an id that is too long is refused before a question`() throws {
        let id = String(repeating: "e", count: 1_025)

        let error = try server.connect().error(of: "session.identify", #"{"externalUserId":"\#(id)"}"#)

        #expect(error.code == -32602)
        #expect(error["message"]?.string?.contains("'externalUserId' must be a string of 1 to 1024 bytes") == true)
        #expect(server.provider.exchangeCalls == 0)
    }

    @Test(arguments: ["apiKey", "userLogin", "registration", "registrationSignature", "selfSigned"])
    func `a user id that is too long in a credential is refused`(scheme: String) throws {
        let id = String(repeating: "e", count: 1_025)
        let credential = #"{"scheme":"\#(scheme)","userId":"\#(id)"}"#

        #expect(try server.connect().error(of: "session.signIn", credential).code == -32602)
    }
}
