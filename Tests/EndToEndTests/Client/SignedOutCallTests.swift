import Foundation
import JunctionTesting
import Testing

/// Tests an API call in progress while its user signs out and another user signs in. The caller receives no byte of the
/// answer.
@Suite struct SignedOutCallTests {
    @Test func `over JSON-RPC the call ends with notSignedIn, and the next call is for the new user`() throws {
        let installation = try Installation.started()
        let alice = try installation.signInNewUser("alice")
        try installation.cloud.fault(["match": "/v2/user", "hang": true, "times": 1])
        let caller = try installation.connect()
        let path: Object = ["method": "GET", "path": "/v2/user/:userId"]
        let call = try caller.request("api.request", path)
        try installation.cloud.wait(for: "hanging")

        try installation.signOut()
        let bob = try installation.signInNewUser("bob")
        try installation.cloud.release()

        let refusal = try caller.refusal(of: call)
        #expect(refusal.kind == "notSignedIn")
        #expect(refusal.message.contains("has signed out"))
        #expect(!refusal.message.contains(alice))
        let answer = try caller.call("api.request", path)
        #expect("\(answer)".contains(bob) && !"\(answer)".contains(alice))
    }

    @Test(.needsCurl)
    func `over HTTP the call ends with notSignedIn`() throws {
        let installation = try Installation.withHTTP()
        let alice = try installation.signInNewUser("alice")
        try installation.cloud.fault(["match": "/v2/user", "hang": true, "times": 1])
        let curl = try installation.api().program(["--include", "http://junction/v2/user/:userId"])
        try installation.cloud.wait(for: "hanging")

        try installation.signOut()
        _ = try installation.signInNewUser("bob")
        try installation.cloud.release()

        let ending = try curl.wait()
        let answer = try ApiSocket.Answer(Data(ending.output.utf8))
        #expect(answer.status == 401)
        #expect(answer.kind == "notSignedIn")
        #expect(!ending.output.contains(alice))
    }

    /// More bytes than all buffers hold if the caller does not read.
    private static let long = 40 << 20

    @Test func `over HTTP an answer in progress is cut off`() throws {
        let installation = try Installation.withHTTP()
        let alice = try installation.signInNewUser("alice")
        try installation.cloud.fault(["match": "/v2/user/\(alice)", "oversize": Self.long])
        let caller = try RawClient(installation.apiSocket)
        caller.send(bytes: Array("GET /v2/user/:userId HTTP/1.1\r\nHost: junction\r\n\r\n".utf8))
        #expect(try caller.line()?.hasPrefix("HTTP/1.1 200") == true)

        try installation.signOut()
        _ = try installation.signInNewUser("bob")

        #expect(try caller.rest().count < Self.long)
    }
}
