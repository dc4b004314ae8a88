import Foundation
import JunctionTesting
import Testing

/// Runs the examples of the JSON-RPC 2.0 specification (section 7) with our methods over the real socket.
@Suite struct JSONRPCTests {
    /// The lines to send with a summary of each answer: the ids by `result` or error code.
    static let examples: [(line: String, answer: String)] = [
        (#"{"jsonrpc":"2.0","method":"daemon.info","id":1}"#, #"{"result":1}"#),
        (#"{"jsonrpc":"2.0","method":"daemon.info","params":[],"id":2}"#, #"{"result":2}"#),
        (#"{"jsonrpc":"2.0","method":"daemon.info","params":{},"id":3}"#, #"{"result":3}"#),
        (#"{"id":"4","params":null,"method":"daemon.info","jsonrpc":"2.0"}"#, #"{"result":"4"}"#),
        (#"{"jsonrpc":"2.0","method":"session.reconcile","params":{"userId":null},"id":4}"#, #"{"result":4}"#),
        (#"{"jsonrpc":"2.0","method":"foobar","id":"1"}"#, #"{"-32601":"1"}"#),
        (#"{"jsonrpc":"2.0","method":"foobar, "params":"bar","baz]"#, #"{"-32700":null}"#),
        (#"{"jsonrpc":"2.0","method":1,"params":"bar"}"#, #"{"-32600":null}"#),
        (#"[{"jsonrpc":"2.0","method":"daemon.info","id":"1"},{"jsonrpc":"2.0","method"]"#, #"{"-32700":null}"#),
        ("[]", #"{"-32600":null}"#),
        ("[1]", #"[{"-32600":null}]"#),
        ("[1,2,3]", #"[{"-32600":null},{"-32600":null},{"-32600":null}]"#),
        (
            #"[{"jsonrpc":"2.0","method":"daemon.info","id":"1"},"#
                + #"{"jsonrpc":"2.0","method":"session.status"},"#
                + #"{"jsonrpc":"2.0","method":"session.status","id":"2"},{"foo":"boo"},"#
                + #"{"jsonrpc":"2.0","method":"foo.get","params":{"name":"myself"},"id":"5"},"#
                + #"{"jsonrpc":"2.0","method":"token.get","id":"9"}]"#,
            #"[{"-32600":null},{"-32601":"5"},{"1003":"9"},{"result":"1"},{"result":"2"}]"#
        ),
        // Not in the specification.
        ("nonsense", #"{"-32700":null}"#),
        ("\"text\"", #"{"-32600":null}"#),
        ("null", #"{"-32600":null}"#),
        (#"{"jsonrpc":"1.0","method":"daemon.info","id":5}"#, #"{"-32600":5}"#),
        (#"{"method":"daemon.info","id":6}"#, #"{"-32600":6}"#),
        (#"{"jsonrpc":"2.0","method":"daemon.info","id":{}}"#, #"{"-32600":null}"#),
        (#"{"jsonrpc":"2.0","method":"token.get","params":{"minimumValidity":"1"},"id":7}"#, #"{"-32602":7}"#),
        (#"{"jsonrpc":"2.0","method":"token.get","params":{"minimumvalidity":1},"id":8}"#, #"{"-32602":8}"#),
        (#"{"jsonrpc":"2.0","method":"token.get","params":[1],"id":9}"#, #"{"-32602":9}"#),
        (#"{"jsonrpc":"2.0","method":"session.signIn","params":{"scheme":"x"},"id":10}"#, #"{"-32602":10}"#),
        ("{\"jsonrpc\":\"2.0\",\"method\":\"daemon.info\",\"id\":11}\r", #"{"result":11}"#),
        ("{\"jsonrpc\":\"2.0\",\"method\":\"\u{0}\",\"id\":12}", #"{"-32700":null}"#),
        (String(repeating: "[", count: 200) + String(repeating: "]", count: 200), #"{"-32700":null}"#),
    ]

    @Test func `every example gets its answer, and so does the next line`() throws {
        let installation = try Installation.started()
        let client = try installation.connect()

        for (line, expected) in Self.examples {
            client.send(line)
            let answer = try summary(of: client.json())
            #expect(answer == expected, "\(line.prefix(120))")
        }

        #expect(try client.call("daemon.info")["name"] as? String == "junctiond")
    }

    @Test func `a request that needs no answer gets none`() throws {
        let installation = try Installation.started()
        let client = try installation.connect()

        for line in [
            #"{"jsonrpc":"2.0","method":"daemon.info","params":{}}"#,
            #"{"jsonrpc":"2.0","method":"foobar"}"#,
            #"[{"jsonrpc":"2.0","method":"daemon.info"},{"jsonrpc":"2.0","method":"foobar"}]"#,
            #"{"jsonrpc":"2.0","id":99,"result":{}}"#,
            #"{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":"x"}}"#,
            "", "   ", "\r",
        ] {
            client.send(line)
        }

        let request = try client.request("daemon.info")
        #expect(try client.message()["id"] as? Int == request)
    }

    @Test func `invalid UTF-8 is a parse error and does not close the connection`() throws {
        let installation = try Installation.started()
        let client = try installation.connect()

        client.send(bytes: [0x22, 0xFF, 0xFE, 0x22, 0x0A])

        #expect(try summary(of: client.json()) == #"{"-32700":null}"#)
        #expect(try client.call("daemon.info")["protocolVersion"] as? Int == 1)
    }

    @Test func `a notification takes effect without an answer`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()
        let client = try installation.watch()

        client.send(#"{"jsonrpc":"2.0","method":"session.signOut"}"#)

        #expect(try client.snapshot().state == "notLoggedIn")
    }

    @Test func `rpc.discover is an OpenRPC document of every method`() throws {
        let installation = try Installation.started()

        let document = try installation.connect().call("rpc.discover")

        #expect(document["openrpc"] as? String == "1.3.2")
        #expect((document["info"] as? Object)?["title"] as? String != nil)
        let methods = try #require(document["methods"] as? [Object])
        let names = Set(methods.compactMap { $0["name"] as? String })
        #expect(
            names.isSuperset(of: [
                "session.status", "session.subscribe", "session.unsubscribe", "session.signIn", "session.signOut",
                "session.identify", "session.reconcile", "session.renew", "token.get", "api.request", "daemon.info",
                "daemon.metrics", "daemon.diagnose",
            ])
        )
        #expect(methods.allSatisfy { $0["params"] is [Any] && $0["result"] is Object })
        let codes = Set(methods.flatMap { $0["errors"] as? [Object] ?? [] }.compactMap { $0["code"] as? Int })
        #expect(codes.isSubset(of: Set((1001...1012).map { $0 } + [-32700, -32600, -32601, -32602, -32603])))
    }

    /// Returns the ids by `result` or error code. Sorts a batch, because its answers come in any order.
    private func summary(of json: Any) throws -> String {
        func entry(_ object: Object) throws -> String {
            #expect(object["jsonrpc"] as? String == "2.0")
            let code = ((object["error"] as? Object)?["code"] as? Int).map { "\($0)" } ?? "result"
            let id = try JSONSerialization.data(withJSONObject: object["id"] ?? "missing", options: .fragmentsAllowed)
            return "{\"\(code)\":\(String(decoding: id, as: UTF8.self))}"
        }
        if let batch = json as? [Object] { return try "[" + batch.map(entry).sorted().joined(separator: ",") + "]" }
        return try entry(json as? Object ?? [:])
    }
}
