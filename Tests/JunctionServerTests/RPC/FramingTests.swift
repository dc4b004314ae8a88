import JunctionJSON
import JunctionServer
import JunctionTesting
import Testing

struct FramingTests {
    private let server: TestServer
    private let client: TestClient
    private let status = #"{"jsonrpc":"2.0","method":"session.status","id":1}"#

    init() throws {
        // A slow machine must not look like a peer that does not close.
        server = try TestServer(timeouts: .with(\.linger, .seconds(60)))
        client = try server.connect()
    }

    @Test func `a message may arrive byte by byte`() throws {
        for byte in Array((status + "\r\n").utf8) { try client.send([byte]) }

        #expect(try client.receiveValue()["result"]?.state == "notLoggedIn")
    }

    @Test func `many messages may arrive at once, and their answers keep the order`() throws {
        let lines = (1...2_000).map { #"{"jsonrpc":"2.0","method":"session.status","id":\#($0)}"# }

        let sending = Thread { [client] in try? client.send(lines.joined(separator: "\n") + "\n") }
        for id in 1...2_000 { #expect(try client.receiveValue()["id"]?.integer == Int64(id)) }
        sending.join()
    }

    @Test func `nesting of more than 128 is a parse error, and the connection stays open`() throws {
        try client.sendLine(String(repeating: "[", count: 129) + String(repeating: "]", count: 129))
        #expect(try client.receiveValue()["error"]?.code == -32700)

        try client.sendLine(String(repeating: "[", count: 100_000))
        #expect(try client.receiveValue()["error"]?.code == -32700)

        #expect(try client.result(of: "session.status").state == "notLoggedIn")
    }

    @Test func `a line of exactly one mebibyte is read`() throws {
        let padding = String(repeating: " ", count: (1 << 20) - status.utf8.count)

        try client.sendLine(padding + status)

        #expect(try client.receiveValue()["id"]?.integer == 1)
    }

    @Test func `a longer line is one error and ends the connection`() throws {
        let sending = Thread { [client] in
            try? client.send([UInt8](repeating: UInt8(ascii: "x"), count: 3 << 20))
            try? client.send("\n{}\n")
        }

        #expect(try client.receiveValue()["error"]?.code == -32600)
        #expect(try client.receiveLine() == nil)
        sending.join()
    }

    @Test func `requests before a line that is too long are answered`() throws {
        server.provider.hold()
        try client.sendLine(
            #"{"jsonrpc":"2.0","id":1,"method":"session.signIn","params":{"scheme":"signInToken","token":"alice"}}"#
        )
        try client.send([UInt8](repeating: UInt8(ascii: "x"), count: (1 << 20) + 1))
        #expect(try client.receiveValue()["error"]?.code == -32600)

        server.provider.release()

        #expect(try client.receiveValue()["result"]?["userId"]?.string == "alice")
        #expect(try client.receiveLine() == nil)
    }

    @Test func `a peer that continues to send after a line that is too long is closed after a moment`() throws {
        let server = try TestServer(timeouts: .none)
        let client = try server.connect()

        try client.send([UInt8](repeating: UInt8(ascii: "x"), count: (1 << 20) + 1))
        #expect(try client.receiveValue()["error"]?.code == -32600)

        // The peer never closes its side, and the server does not wait for that.
        #expect(throws: TestFailure.self) { while true { try client.send("more\n") } }
    }

    @Test func `the last line needs no ending when the input ends`() throws {
        try client.send(status)
        client.finish()

        #expect(try client.receiveValue()["result"]?.state == "notLoggedIn")
        #expect(try client.receiveLine() == nil)
    }

    @Test func `an incomplete line at the end of the input is a parse error`() throws {
        try client.send(#"{"jsonrpc":"2.0","#)
        client.finish()

        #expect(try client.receiveValue()["error"]?.code == -32700)
        #expect(try client.receiveLine() == nil)
    }

    @Test func `pending answers are sent before the connection closes at the end of the input`() throws {
        server.provider.hold()
        try client.sendLine(
            #"{"jsonrpc":"2.0","id":1,"method":"session.signIn","params":{"scheme":"signInToken","token":"alice"}}"#
        )
        client.finish()
        server.provider.release()

        #expect(try client.receiveValue()["result"]?["userId"]?.string == "alice")
        #expect(try client.receiveLine() == nil)
    }

    @Test func `a subscription ends with the input`() throws {
        _ = try client.result(of: "session.subscribe")
        client.finish()
        #expect(try client.receiveLine() == nil)

        _ = try server.connectSignedIn()

        #expect(try server.counters.watchers == 0)
    }

    @Test func `a peer that does not read its answers is not read from, and gets all answers when it reads`() throws {
        let lines = Array(repeating: #"{"jsonrpc":"2.0","method":"daemon.info","id":1}"#, count: 20_000)

        let sending = Thread { [client] in try? client.send(lines.joined(separator: "\n") + "\n") }
        // Another caller is served meanwhile.
        #expect(try server.connect().result(of: "session.status").state == "notLoggedIn")

        for _ in lines { #expect(try client.receiveValue()["result"]?["name"]?.string == "junctiond") }
        sending.join()
    }
}
