import Dispatch
import Glibc
import JunctionJSON
import JunctionServer
import JunctionSession
import JunctionTesting
import NIOCore
import Testing

struct DrainTests {
    @Test func `received requests are answered, then all connections are closed and the socket is removed`() throws {
        let server = try TestServer()
        let client = try server.signInHeld()

        let drained = server.drain()
        // After this has run, the drain has begun.
        try server.onLoop {}
        server.provider.release()

        #expect(try client.receiveValue()["result"]?["userId"]?.string == "alice")
        #expect(try client.receiveLine() == nil)
        try drained.wait()
        #expect(access(server.path, F_OK) != 0)
        #expect(throws: TestFailure.self) { try server.connect() }
    }

    @Test func `requests that wait in the kernel are answered`() throws {
        let server = try TestServer()
        let client = try server.connect()
        _ = try client.result(of: "session.status")

        let release = server.holdLoop()
        for id in 1...50 { try client.sendLine(#"{"jsonrpc":"2.0","id":\#(id),"method":"session.status"}"#) }
        try client.send(#"{"jsonrpc":"2.0","id":51,"#)
        let drained = server.drain()
        release.signal()

        for id in 1...50 { #expect(try client.receiveValue()["id"]?.integer == Int64(id)) }
        // An incomplete line is not an error.
        #expect(try client.receiveLine() == nil)
        try drained.wait()
    }

    @Test func `HTTP requests that wait in the kernel are answered`() throws {
        let server = try TestServer(timeouts: .endless)
        let client = try server.connectHTTP()
        #expect(try client.ask("GET", "/.junction/status").header("connection") == nil)

        let release = server.holdLoop()
        for _ in 1...50 { try client.request("GET", "/.junction/status") }
        // An incomplete head is not an error either.
        try client.send("GET /.junction/sta")
        let drained = server.drain()
        release.signal()

        for _ in 1...50 { #expect(try client.answer().status == 200) }
        #expect(try client.isAtEnd())
        try drained.wait()
    }

    @Test func `the last HTTP answer announces the end of the connection`() throws {
        let server = try TestServer(timeouts: .endless)
        let client = try server.connectHTTP()
        #expect(try client.ask("GET", "/.junction/status").status == 200)

        let release = server.holdLoop()
        for _ in 1...2 { try client.request("GET", "/.junction/status") }
        let drained = server.drain()
        release.signal()

        #expect(try client.answer().header("connection") == nil)
        #expect(try client.answer().header("connection") == "close")
        #expect(try client.isAtEnd())
        try drained.wait()
    }

    @Test func `a body that is still being sent is waited for, and the requests after it are answered`() throws {
        let server = try TestServer(timeouts: .endless)
        let client = try server.connectHTTPSignedIn()
        try client.request("POST", "/v2/user/alice", "Content-Length: 3", "Expect: 100-continue")
        #expect(try client.head().status == 100)

        let drained = server.drain()
        try server.onLoop {}
        try client.send("abcGET /.junction/status HTTP/1.1\r\nHost: junction\r\n\r\n")

        #expect(try client.answer().status == 200)
        #expect(try client.answer().status == 200)
        #expect(try client.isAtEnd())
        #expect(server.provider.apiCalls.map(\.body) == [Array("abc".utf8)])
        try drained.wait()
    }

    @Test(arguments: ["Content-Length: 3", "Transfer-Encoding: chunked"])
    func `a request whose body has not arrived when the daemon ends gets no answer`(body: String) throws {
        let server = try TestServer(timeouts: .endless)
        let client = try server.connectHTTPSignedIn()

        let release = server.holdLoop()
        try client.request("POST", "/v2/user/alice", body)
        let drained = server.drain()
        release.signal()

        #expect(try client.isAtEnd())
        #expect(server.provider.apiCalls.isEmpty)
        try drained.wait()
    }

    @Test func `events that are requested before the end of the daemon end with the present state`() throws {
        let server = try TestServer(timeouts: .endless)
        let client = try server.connectHTTP()
        #expect(try client.ask("GET", "/.junction/status").status == 200)

        let release = server.holdLoop()
        try client.request("GET", "/.junction/events")
        let drained = server.drain()
        release.signal()

        #expect(try client.answer().text.contains("notLoggedIn"))
        #expect(try client.isAtEnd())
        try drained.wait()
    }

    @Test func `requests that cannot be answered in time are given up`() throws {
        let server = try TestServer(timeouts: .none)
        let client = try server.signInHeld()

        try server.drain().wait()

        #expect(try client.receiveLine() == nil)
        server.provider.release()
    }
}
