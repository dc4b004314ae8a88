import Glibc
import JunctionJSON
import JunctionProtocol
import JunctionServer
import JunctionTesting
import NIOCore
import NIOPosix
import Testing

/// What stands in the place of a daemon that cannot start, on a socket where HTTP is spoken.
struct RefusingServerTests {
    private final class Refusal {
        private let folder = TemporaryFolder()
        private let socket: ListeningSocket
        let server: RefusingServer

        init() throws {
            socket = try ListeningSocket(creatingAt: folder.path + "/socket")
            server = RefusingServer(
                WireError(.misconfigured, "nonsense"),
                eventLoop: MultiThreadedEventLoopGroup.singleton.next()
            )
            _ = try server.start(on: socket, speaking: .http).wait()
        }

        func visit() throws -> DoorClient { try DoorClient(.path(folder.path + "/socket"), to: self) }
    }

    @Test(arguments: ["GET", "POST", "DELETE", "OPTIONS"])
    func `every request is answered with the error`(method: String) throws {
        let refusal = try Refusal()

        for target in ["/v2/user/:userId", "/.junction/status", "/.junction/token", "/"] {
            let client = try refusal.visit()
            let answer = try client.ask(method, target, body: method == "POST" ? "{}" : nil)
            #expect(answer.status == 503)
            #expect(answer.kind == "misconfigured")
            #expect(answer.header("connection") == "close")
            #expect(answer.header("content-type") == "application/problem+json")
            let problem = try JSONValue.parse(answer.body)
            #expect(problem["kind"]?.string == "misconfigured")
            #expect(problem["detail"]?.string == "nonsense")
            #expect(try client.isAtEnd())
        }
    }

    @Test func `a request for the head alone gets no body`() throws {
        let refusal = try Refusal()
        let client = try refusal.visit()

        let answer = try client.ask("HEAD", "/v2/user/:userId")

        #expect(answer.kind == "misconfigured")
        #expect(try client.isAtEnd())
    }

    @Test
    func `whoever waits to be asked for a body is answered before, and whoever sends it all the same is heard out`()
        throws
    {
        let refusal = try Refusal()
        let waiting = try refusal.visit()
        try waiting.request("PUT", "/v2/user/x", "Expect: 100-continue", "Content-Length: 1000000")
        #expect(try waiting.answer().kind == "misconfigured")

        let sending = try refusal.visit()
        let answer = try sending.ask("PUT", "/v2/user/x", body: String(repeating: "x", count: 1 << 20))

        #expect(answer.kind == "misconfigured")
        sending.finish()
        #expect(try sending.isAtEnd())
    }

    @Test func `there is one answer to a connection, and the next one has what is the matter then`() throws {
        let refusal = try Refusal()
        let client = try refusal.visit()
        try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.answer().text.contains("nonsense"))
        #expect(try client.isAtEnd())

        refusal.server.change(to: WireError(.misconfigured, "other"))

        #expect(try refusal.visit().ask("GET", "/").text.contains("other"))
    }

    @Test func `no user takes the place of all others`() throws {
        let refusal = try Refusal()
        let idle = try (0..<64).map { _ in try refusal.visit() }
        #expect(try refusal.visit().isAtEnd())

        #expect(try idle[63].ask("GET", "/").kind == "misconfigured")
        #expect(try idle[63].isAtEnd())
        withExtendedLifetime(idle) {}
    }

    @Test func `what is no HTTP is told so`() throws {
        let refusal = try Refusal()
        let client = try refusal.visit()

        try client.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session.status\"}\n")

        #expect(try client.answer().status == 400)
        #expect(try client.isAtEnd())
    }
}
