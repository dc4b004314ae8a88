import JunctionJSON
import JunctionServer
import JunctionTesting
import Testing

struct FramingTests {
    private let server: TestServer
    private let client: TestClient
    private let status = #"{"jsonrpc":"2.0","method":"session.status","id":1}"#

    init() throws {
        // A busy machine must not look like a peer that does not go.
        var patience = ServerSettings.Patience()
        patience.farewell = .seconds(60)
        server = try TestServer(patience: patience)
        client = try server.connect()
    }

    @Test func `a message may arrive byte by byte`() throws {
        for byte in Array((status + "\r\n").utf8) { try client.send([byte]) }

        #expect(try client.hearValue()["result"]?.state == "notLoggedIn")
    }

    @Test func `many messages may arrive at once, and their answers keep the order`() throws {
        let lines = (1...2_000).map { #"{"jsonrpc":"2.0","method":"session.status","id":\#($0)}"# }

        let sending = Thread { [client] in try? client.send(lines.joined(separator: "\n") + "\n") }
        for id in 1...2_000 { #expect(try client.hearValue()["id"]?.integer == Int64(id)) }
        sending.join()
    }

    @Test func `blank lines are passed over`() throws {
        try client.send("\n\r\n \t\n\(status)\n\n")

        #expect(try client.hearValue()["id"]?.integer == 1)
    }

    @Test func `bytes that are not UTF-8 are a parse error`() throws {
        try client.send([0x22, 0xFF, 0xFE, 0x22, 0x0A])

        #expect(try client.hearValue()["error"]?.code == -32700)
        #expect(try client.result(of: "session.status").state == "notLoggedIn")
    }

    @Test func `nesting of more than 128 is a parse error, and the connection stays`() throws {
        try client.say(String(repeating: "[", count: 129) + String(repeating: "]", count: 129))
        #expect(try client.hearValue()["error"]?.code == -32700)

        try client.say(String(repeating: "[", count: 100_000))
        #expect(try client.hearValue()["error"]?.code == -32700)

        #expect(try client.result(of: "session.status").state == "notLoggedIn")
    }

    @Test func `a line of exactly one mebibyte is read`() throws {
        let padding = String(repeating: " ", count: (1 << 20) - status.utf8.count)

        try client.say(padding + status)

        #expect(try client.hearValue()["id"]?.integer == 1)
    }

    @Test func `a longer line is one error, and the connection ends behind it`() throws {
        let sending = Thread { [client] in
            try? client.send([UInt8](repeating: UInt8(ascii: "x"), count: 3 << 20))
            try? client.send("\n{}\n")
        }

        #expect(try client.hearValue()["error"]?.code == -32600)
        #expect(try client.hear() == nil)
        sending.join()
    }

    @Test func `what was asked before a line that is too long is still answered`() throws {
        server.provider.hold()
        try client.say(
            #"{"jsonrpc":"2.0","id":1,"method":"session.signIn","params":{"scheme":"signInToken","token":"alice"}}"#
        )
        try client.send([UInt8](repeating: UInt8(ascii: "x"), count: (1 << 20) + 1))
        #expect(try client.hearValue()["error"]?.code == -32600)

        server.provider.release()

        #expect(try client.hearValue()["result"]?["userId"]?.string == "alice")
        #expect(try client.hear() == nil)
    }

    @Test func `a peer that goes on sending after a line that is too long is closed after a moment`() throws {
        let server = try TestServer(patience: .none)
        let client = try server.connect()

        try client.send([UInt8](repeating: UInt8(ascii: "x"), count: (1 << 20) + 1))
        #expect(try client.hearValue()["error"]?.code == -32600)

        // It never closes its side; the server does not wait for that.
        #expect(throws: TestFailure.self) { while true { try client.send("more\n") } }
    }

    @Test func `the last line needs no ending when the input ends`() throws {
        try client.send(status)
        client.finish()

        #expect(try client.hearValue()["result"]?.state == "notLoggedIn")
        #expect(try client.hear() == nil)
    }

    @Test func `a piece of a line at the end of the input is a parse error`() throws {
        try client.send(#"{"jsonrpc":"2.0","#)
        client.finish()

        #expect(try client.hearValue()["error"]?.code == -32700)
        #expect(try client.hear() == nil)
    }

    @Test func `answers that are missing when the input ends are delivered before the connection is closed`() throws {
        server.provider.hold()
        try client.say(
            #"{"jsonrpc":"2.0","id":1,"method":"session.signIn","params":{"scheme":"signInToken","token":"alice"}}"#
        )
        client.finish()
        server.provider.release()

        #expect(try client.hearValue()["result"]?["userId"]?.string == "alice")
        #expect(try client.hear() == nil)
    }

    @Test func `a subscription ends with the input`() throws {
        _ = try client.result(of: "session.subscribe")
        client.finish()
        #expect(try client.hear() == nil)

        _ = try server.connectSignedIn()

        #expect(try server.counters.watchers == 0)
    }

    @Test func `who does not read its answers is not read from, and gets them all when it does`() throws {
        let lines = Array(repeating: #"{"jsonrpc":"2.0","method":"daemon.info","id":1}"#, count: 20_000)

        let sending = Thread { [client] in try? client.send(lines.joined(separator: "\n") + "\n") }
        // Another caller is served meanwhile.
        #expect(try server.connect().result(of: "session.status").state == "notLoggedIn")

        for _ in lines { #expect(try client.hearValue()["result"]?["name"]?.string == "junctiond") }
        sending.join()
    }

    @Test func `a peer that vanishes takes nothing with it`() throws {
        let asked = Signal()
        server.provider.hold { asked.give() }
        do {
            let vanishing = try server.connect()
            try vanishing.say(
                #"{"jsonrpc":"2.0","id":1,"method":"session.signIn","params":{"scheme":"signInToken","token":"alice"}}"#
            )
            asked.wait()
        }
        server.provider.release()

        #expect(try client.result(of: "token.get")["userId"]?.string == "alice")
    }
}
