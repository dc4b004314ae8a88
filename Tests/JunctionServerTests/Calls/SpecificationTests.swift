import JunctionJSON
import JunctionServer
import Testing

/// The examples of the JSON-RPC 2.0 specification, section 7, with methods of this project.
struct SpecificationTests {
    private let server: TestServer
    private let client: TestClient

    init() throws {
        server = try TestServer()
        client = try server.connect()
    }

    @Test func `a call with named parameters in any order is answered under its id`() throws {
        for params in [#"{"userId":"alice"}"#, #"{ "userId" : "alice" }"#] {
            let answer = try client.call("session.reconcile", params, id: "3")

            #expect(answer["jsonrpc"]?.string == "2.0")
            #expect(answer["id"]?.integer == 3)
            #expect(answer["result"]?["action"]?.string == "signIn")
        }
    }

    @Test func `parameters by position are refused`() throws {
        let answer = try client.call("session.reconcile", "[42,23]", id: "1")

        #expect(answer["error"]?.code == -32602)
        #expect(answer["id"]?.integer == 1)
    }

    @Test(arguments: ["", #","params":null"#, #","params":{}"#, #","params":[]"#])
    func `absent, null and empty parameters are the same`(params: String) throws {
        try client.sendLine(#"{"jsonrpc":"2.0","method":"session.status","id":1\#(params)}"#)

        #expect(try client.receiveValue()["result"]?.state == "notLoggedIn")
    }

    @Test func `a notification is not answered, not even for an unknown method`() throws {
        try client.sendLine(#"{"jsonrpc":"2.0","method":"session.status"}"#)
        try client.sendLine(#"{"jsonrpc":"2.0","method":"foobar"}"#)
        try client.sendLine(#"{"jsonrpc":"2.0","method":"token.get","params":{"minimumValidity":-1}}"#)

        #expect(try client.call("session.status", id: "7")["id"]?.integer == 7)
    }

    @Test func `a notification without an effect is not carried out`() throws {
        _ = try client.result(of: "session.signIn", #"{"scheme":"signInToken","token":"alice"}"#)
        let reads = ["token.get", "daemon.info"].map { #"{"jsonrpc":"2.0","method":"\#($0)"}"# }
        try client.sendLine("[\(reads.joined(separator: ","))]")
        for read in reads { try client.sendLine(read) }
        _ = try client.result(of: "session.status")

        #expect(try server.counters.tokensServed == 0)
        #expect(server.introspection.descriptionsTold == 0)
    }

    @Test func `a notification is carried out`() throws {
        let watcher = try server.connect()
        _ = try watcher.result(of: "session.subscribe")

        try client.sendLine(
            #"{"jsonrpc":"2.0","method":"session.signIn","params":{"scheme":"signInToken","token":"alice"}}"#
        )

        var snapshot = try watcher.receiveValue()["params"]?["snapshot"]
        while snapshot?.state == "establishing" { snapshot = try watcher.receiveValue()["params"]?["snapshot"] }
        #expect(snapshot?["userId"]?.string == "alice")
    }

    @Test func `an unknown method is an error under the id of the call`() throws {
        try client.sendLine(#"{"jsonrpc":"2.0","method":"foobar","id":"1"}"#)

        let answer = try client.receiveValue()
        #expect(answer["error"]?.code == -32601)
        #expect(answer["id"]?.string == "1")
    }

    @Test(arguments: [
        #"{"jsonrpc":"2.0","method":"foobar, "params":"bar","baz]"#,
        #"[{"jsonrpc":"2.0","method":"session.status","id":"1"},{"jsonrpc":"2.0","method"]"#,
        "nonsense", "{", "[", "]", #"{"a":1}}"#, "\u{0}", "{\"jsonrpc\":\"2.0\"\u{1}}", "'", "01", "tru",
    ])
    func `a line that is not JSON is one parse error, and the next line is handled`(line: String) throws {
        try client.sendLine(line)

        let answer = try client.receiveValue()
        #expect(answer["error"]?.code == -32700)
        #expect(answer["id"]?.isNull == true)
        #expect(try client.result(of: "session.status").state == "notLoggedIn")
    }

    @Test(arguments: [
        #"{"jsonrpc":"2.0","method":1,"params":"bar"}"#,
        #"{"jsonrpc":"2.0","method":"session.status","params":"bar","id":1}"#,
        #"{"jsonrpc":"1.0","method":"session.status","id":1}"#,
        #"{"method":"session.status","id":1}"#,
        #"{"jsonrpc":"2.0","method":"session.status","id":{}}"#,
        #"{"jsonrpc":"2.0","method":"session.status","id":[1]}"#,
        #"{"jsonrpc":"2.0","method":"session.status","id":true}"#,
        #"{"foo":"boo"}"#, "{}", "1", "null", "true", #""text""#, "[]",
    ])
    func `JSON that is not a message is an invalid request`(line: String) throws {
        try client.sendLine(line)

        #expect(try client.receiveValue()["error"]?.code == -32600)
        #expect(try client.result(of: "session.status").state == "notLoggedIn")
    }

    @Test func `a batch of invalid messages is answered with one error for each`() throws {
        try client.sendLine("[1]")
        let one = Array(try client.receiveValue().elements)
        try client.sendLine("[1,2,3]")
        let three = Array(try client.receiveValue().elements)

        #expect(one.map { $0["error"]?.code } == [-32600])
        #expect(three.map { $0["error"]?.code } == [-32600, -32600, -32600])
    }

    @Test func `a mixed batch is answered with one array of all its answers`() throws {
        try client.sendLine(
            """
            [{"jsonrpc":"2.0","method":"session.status","id":"1"},\
            {"jsonrpc":"2.0","method":"session.unsubscribe","params":{}},\
            {"jsonrpc":"2.0","method":"session.reconcile","params":{"userId":null},"id":"2"},\
            {"foo":"boo"},\
            {"jsonrpc":"2.0","method":"foo.get","params":{"name":"myself"},"id":"5"},\
            {"jsonrpc":"2.0","method":"daemon.metrics","id":"9"}]
            """
        )

        let answers = Array(try client.receiveValue().elements)
        let byId = Dictionary(uniqueKeysWithValues: answers.map { ($0["id"]?.string ?? "null", $0) })
        #expect(byId.count == 5)
        #expect(byId["1"]?["result"]?.state == "notLoggedIn")
        #expect(byId["2"]?["result"]?["action"]?.string == "none")
        #expect(byId["null"]?["error"]?.code == -32600)
        #expect(byId["5"]?["error"]?.code == -32601)
        #expect(byId["9"]?["result"]?["text"]?.string == "statuses 1 watchers 0\n")
    }

    @Test func `a batch of notifications is not answered at all`() throws {
        try client.sendLine(
            #"[{"jsonrpc":"2.0","method":"session.status"},{"jsonrpc":"2.0","method":"session.unsubscribe"}]"#
        )

        #expect(try client.call("session.status", id: "4")["id"]?.integer == 4)
    }

    @Test func `a batch is answered when its last call is answered`() throws {
        try client.sendLine(
            """
            [{"jsonrpc":"2.0","id":1,"method":"session.signIn","params":{"scheme":"signInToken","token":"alice"}},\
            {"jsonrpc":"2.0","id":2,"method":"token.get"}]
            """
        )

        let answers = Array(try client.receiveValue().elements)
        #expect(Set(answers.compactMap { $0["id"]?.integer }) == [1, 2])
        #expect(answers.compactMap { $0["result"]?["accessToken"]?.string } == ["access-alice-1"])
    }

    @Test func `a batch of more than a thousand messages is refused as a whole`() throws {
        let message = #"{"jsonrpc":"2.0","method":"session.status","id":1}"#

        try client.sendLine("[\(Array(repeating: message, count: 1_001).joined(separator: ","))]")
        #expect(try client.receiveValue()["error"]?.code == -32600)

        try client.sendLine("[\(Array(repeating: message, count: 1_000).joined(separator: ","))]")
        #expect(Array(try client.receiveValue().elements).count == 1_000)
    }

    @Test(arguments: ["0", "-7", "1.5", "1e3", #""""#, #""a\"b\\c\u00e9""#, "12345678901234567890", "null"])
    func `an id is returned exactly as it was written`(id: String) throws {
        #expect(try client.call("session.status", id: id)["id"]?.text == id)
    }

    @Test func `an answer without a question is dropped`() throws {
        try client.sendLine(#"{"jsonrpc":"2.0","id":99,"result":{}}"#)
        try client.sendLine(#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#)

        #expect(try client.result(of: "session.status").state == "notLoggedIn")
    }
}
