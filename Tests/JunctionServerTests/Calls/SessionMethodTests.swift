import Dispatch
import JunctionJSON
import JunctionServer
import JunctionSession
import JunctionTesting
import Testing

struct SessionMethodTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
    }

    @Test func `a user is signed in, shown and signed out`() throws {
        let client = try server.connect()

        let signedIn = try client.result(of: "session.signIn", #"{"scheme":"signInToken","token":"Alice"}"#)
        #expect(signedIn.state == "established")
        #expect(signedIn["userId"]?.string == "alice")
        #expect(signedIn["flags"]?.text == #"["configured","signedIn","useSignInToken"]"#)
        #expect(signedIn["accessToken"]?["issuedAt"]?.string == "2026-11-21T00:00:00Z")
        #expect(try client.result(of: "session.status").text == signedIn.text)

        #expect(try client.result(of: "session.signOut").state == "notLoggedIn")
        #expect(try client.error(of: "token.get").code == 1003)
        #expect(
            server.audit.lines.map { $0.split(separator: " ").dropLast().joined(separator: " ") } == [
                "signed in", "signed out",
            ]
        )
    }

    @Test func `another user is refused with the id of the signed-in user`() throws {
        let client = try server.connectSignedIn(as: "alice")

        let error = try client.error(of: "session.signIn", #"{"scheme":"signInToken","token":"bob"}"#)

        #expect(error.code == 1001)
        #expect(error["data"]?["kind"]?.string == "alreadySignedIn")
        #expect(error["data"]?["userId"]?.string == "alice")
    }

    @Test func `an error contains values for programs`() throws {
        let client = try server.connect()
        server.provider.failExchanges(.unavailable(Unavailability("It is down", retryAfter: .milliseconds(2_500))))

        let error = try client.error(of: "session.signIn", #"{"scheme":"signInToken","token":"alice"}"#)

        #expect(error.code == 1006)
        #expect(error["message"]?.string == "It is down")
        #expect(error["data"]?["retryAfter"]?.double == 2.5)
    }

    @Test func `invalid parameters are named, and the session is unchanged`() throws {
        let client = try server.connect()

        #expect(try client.error(of: "session.signIn", #"{"scheme":"signInToken"}"#).code == -32602)
        #expect(try client.error(of: "session.signIn", #"{"scheme":"magic"}"#).code == -32602)
        #expect(try client.error(of: "session.status", #"{"verbose":true}"#).code == -32602)
        #expect(server.provider.exchangeCalls == 0)
    }

    @Test(arguments: [("null", "signOut"), (#""alice""#, "none"), (#""BOB""#, "switch")])
    func `reconcile compares and changes nothing`(user: String, action: String) throws {
        let client = try server.connectSignedIn(as: "alice")

        let result = try client.result(of: "session.reconcile", #"{"userId":\#(user)}"#)

        #expect(result["action"]?.string == action)
        #expect(result["snapshot"]?["userId"]?.string == "alice")
    }

    @Test func `a renewal returns a new token`() throws {
        let client = try server.connectSignedIn()
        #expect(try client.result(of: "token.get")["accessToken"]?.string == "access-alice-1")

        let renewed = try client.result(of: "session.renew")

        #expect(renewed["accessToken"]?["generation"]?.integer == 2)
        #expect(try client.result(of: "token.get")["accessToken"]?.string == "access-alice-2")
    }

    @Test func `a token has its expiry and its user`() throws {
        let client = try server.connectSignedIn()

        let token = try client.result(of: "token.get", #"{"minimumValidity":60}"#)

        #expect(
            token.text
                == #"{"accessToken":"access-alice-1","tokenType":"Bearer","expiresAt":"2026-11-21T01:00:00Z","userId":"alice"}"#
        )
        #expect(try server.counters.tokensServed == 1)
    }

    @Test func `a validity that no token has is refused with the maximum`() throws {
        let client = try server.connectSignedIn()

        let error = try client.error(of: "token.get", #"{"minimumValidity":2881}"#)

        #expect(error.code == -32602)
        #expect(error["data"]?["maximum"]?.double == 2_880)
    }

    @Test func `a prepared token is not served after a sign-out`() throws {
        let client = try server.connectSignedIn()
        _ = try client.result(of: "token.get")

        _ = try client.result(of: "session.signOut")
        #expect(try client.error(of: "token.get").code == 1003)
        _ = try client.result(of: "session.signIn", #"{"scheme":"signInToken","token":"bob"}"#)
        #expect(try client.result(of: "token.get")["userId"]?.string == "bob")
    }

    @Test func `200 callers around an expiry cause one renewal`() throws {
        let client = try server.connectSignedIn()
        server.clock.advance(by: .seconds(3_600))
        let asked = DispatchSemaphore(value: 0)
        server.provider.hold { asked.signal() }
        let callers = try (0..<200).map { _ in try server.connect() }

        for caller in callers { try caller.sendLine(#"{"jsonrpc":"2.0","id":1,"method":"token.get"}"#) }
        asked.wait()
        // When this is answered, every call has been read, or will be read during the renewal.
        #expect(try client.result(of: "session.status")["renewal"]?["phase"]?.string == "inFlight")
        server.provider.release()

        for caller in callers {
            #expect(try caller.receiveValue()["result"]?["accessToken"]?.string == "access-alice-2")
        }
        #expect(server.provider.renewalCalls == 1)
    }

    @Test func `a valid token is served while the provider does not answer`() throws {
        let client = try server.connectSignedIn()
        let asked = DispatchSemaphore(value: 0)
        server.provider.hold { asked.signal() }
        let renewing = try server.connect()
        try renewing.sendLine(#"{"jsonrpc":"2.0","id":1,"method":"session.renew"}"#)
        asked.wait()

        #expect(try client.result(of: "token.get")["accessToken"]?.string == "access-alice-1")

        server.provider.release()
        #expect(try renewing.receiveValue()["result"]?["accessToken"]?["generation"]?.integer == 2)
    }

    @Test(arguments: 0..<20)
    func `a concurrent sign-in and sign-out end in one of two states`(_: Int) throws {
        let (one, other) = (try server.connect(), try server.connect())
        let watcher = try server.connect()
        _ = try watcher.result(of: "session.subscribe")

        let racing = Thread { [one] in
            try? one.sendLine(
                #"{"jsonrpc":"2.0","id":1,"method":"session.signIn","params":{"scheme":"signInToken","token":"alice"}}"#
            )
        }
        try other.sendLine(#"{"jsonrpc":"2.0","id":1,"method":"session.signOut"}"#)
        racing.join()

        let (signedIn, signedOut) = (try one.receiveValue(), try other.receiveValue())
        #expect(signedOut["result"] != nil)
        let state = try watcher.result(ofLast: "session.status").state
        if signedIn["error"] != nil {
            #expect(signedIn["error"]?.code == 1003)
            #expect(state == "notLoggedIn")
        } else {
            #expect(["established", "notLoggedIn"].contains(state))
        }
    }
}

extension TestClient {
    /// Calls a method on a connection that also receives notifications.
    fileprivate func result(ofLast method: String) throws -> JSONValue {
        var answer = try call(method)
        while answer["result"] == nil { answer = try receiveValue() }
        return try #require(answer["result"])
    }
}
