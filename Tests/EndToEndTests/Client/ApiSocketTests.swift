import Foundation
import JunctionTesting
import Testing

/// Tests of the provider's API over the HTTP socket, with curl as the app, a real daemon, its network helper and the
/// sandbox.
@Suite(.needsCurl)
struct ApiSocketTests {
    @Test(arguments: [":userId", "%7BuserId%7D", "%7buserId%7d", "{userId}"])
    func `the provider answers, and :userId in the path becomes the user's id`(segment: String) throws {
        let installation = try Installation.withHTTP()
        let user = try installation.signInNewUser()

        let answer = try installation.api().ask("/v2/user/\(segment)", "--globoff")

        #expect(answer.status == 200)
        #expect(answer.kind == nil)
        #expect(try answer.json()["user_id"] as? String == user)
    }

    @Test(arguments: ["expire-access-tokens", "revoke-access-tokens"])
    func `a rejected token is renewed once without the app noticing`(verb: String) throws {
        let installation = try Installation.withHTTP()
        let user = try installation.signInNewUser()
        try installation.cloud.drive(verb, user)

        let answers = try (0..<2).map { _ in
            try installation.api().ask(
                "/v2/user/refresh/:userId",
                "--data",
                #"{"a":1}"#,
                "-H",
                "Content-Type: application/json"
            )
        }

        #expect(answers.map(\.status) == [200, 200])
        #expect(try installation.cloud.counter("refreshes") == 1)
        #expect(
            try installation.cloud.requests(to: "/v2/user/refresh/\(user)").map { $0.integer("bodyBytes") } == [
                7, 7, 7,
            ]
        )
    }

    @Test func `a long body is not sent twice: the app receives the 401, and the next call has a new token`() throws {
        let installation = try Installation.withHTTP()
        let user = try installation.signInNewUser()
        try installation.cloud.drive("revoke-access-tokens", user)
        let file = try Self.file(of: 100_000, in: installation)

        let first = try installation.api().ask("/v2/user/refresh/:userId", "--data-binary", "@\(file)")
        let second = try installation.api().ask("/v2/user/refresh/:userId", "--data-binary", "@\(file)")

        #expect(first.status == 401)
        #expect(first.kind == nil)
        #expect(second.status == 200)
        #expect(try installation.cloud.counter("refreshes") == 1)
    }

    /// More bytes than the JSON-RPC socket accepts, and more than the daemon may use in memory.
    private static let long = 40 << 20

    @Test(arguments: [[], ["-H", "Transfer-Encoding: chunked"]])
    func `a body of any length is forwarded while it arrives`(framing: [String]) throws {
        let installation = try Installation.withHTTP()
        let user = try installation.signInNewUser()
        let file = try Self.file(of: Self.long, in: installation)
        let before = try installation.peakMemory()

        let upload = ["-X", "POST", "-H", "Content-Type: application/octet-stream", "-T", file] + framing
        let ending = try installation.api().program(["--include", "http://junction/v2/user/refresh/:userId"] + upload)
            .wait()

        #expect(try ApiSocket.Answer(Data(ending.output.utf8)).status == 200)
        let note = try #require(try installation.cloud.requests(to: "/v2/user/refresh/\(user)").last)
        #expect(note.integer("bodyBytes") == Self.long)
        #expect(try installation.peakMemory() - before < Self.long / 2)
    }

    @Test func `an answer of any length is forwarded while the app reads it`() throws {
        let installation = try Installation.withHTTP()
        let user = try installation.signInNewUser()
        try installation.cloud.fault(["match": "/v2/user/\(user)", "oversize": Self.long])
        let before = try installation.peakMemory()

        let answer = try installation.api().ask("/v2/user/:userId")

        #expect(answer.status == 200)
        #expect(answer.body.count == Self.long)
        #expect((try answer.json()["padding"] as? String)?.utf8.allSatisfy { $0 == UInt8(ascii: "x") } == true)
        #expect(try installation.peakMemory() - before < Self.long / 2)
        #expect(
            try installation.connect().refusal("api.request", ["method": "GET", "path": "/v2/user/{userId}"]).code
                == 1006
        )
    }

    @Test func `an error of the daemon is a problem document with a kind`() throws {
        let installation = try Installation.withHTTP()
        let nobody = try installation.api().ask("/v2/user/:userId")
        #expect(nobody.status == 401)
        #expect(nobody.kind == "notSignedIn")
        #expect(nobody.headers["content-type"] == "application/problem+json")
        try installation.signInNewUser()

        let others = try installation.api().ask("/v2/user/somebody-else")
        try installation.cloud.stop()
        let offline = try installation.api().ask("/v2/user/:userId")

        #expect(others.status == 403)
        #expect(others.kind == "permissionDenied")
        #expect(offline.status == 503)
        #expect(offline.kind == "providerUnavailable")
        let problem = try offline.json()
        #expect(problem["status"] as? Int == 503)
        #expect(problem["kind"] as? String == offline.kind)
        #expect((problem["detail"] as? String)?.isEmpty == false)
        #expect((problem["title"] as? String)?.isEmpty == false)
        #expect(
            (problem["retryAfter"] as? Double).map { Int(max(1, $0.rounded(.up))) }
                == offline.headers["retry-after"].flatMap { Int($0) }
        )
    }

    @Test(.needsOtherUser)
    func `another user may do only what an access entry allows`() throws {
        let installation = try Installation.withHTTP(
            configuration: OtherUser.entry(allowing: "status")
        )
        try installation.signInNewUser()
        let otherUser = try OtherUser(installation)
        let api = installation.api(as: OtherUser.command)
        #expect(throws: TestFailure.self) { try api.ask("/.junction/status") }
        try otherUser.open(installation.apiSocket)

        let call = try api.ask("/v2/user/:userId")

        #expect(call.status == 403)
        #expect(call.kind == "permissionDenied")
        #expect(try call.json()["capability"] as? String == "api")
        #expect(try api.ask("/.junction/token", "-H", "Junction-Local: true").kind == "permissionDenied")
        #expect(try api.ask("/.junction/status").json().state == "established")
        #expect(try api.ask("/.junction/metrics").status == 200)
        #expect(try installation.cloud.requests(to: "/v2").allSatisfy { ($0["method"] as? String) == "POST" })
    }

    // MARK: Support

    private static func file(of count: Int, in installation: Installation) throws -> String {
        try installation.folder.write(Data(repeating: UInt8(ascii: "x"), count: count), to: "body")
    }
}
