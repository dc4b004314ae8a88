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
}
