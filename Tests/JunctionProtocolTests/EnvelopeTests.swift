import JunctionJSON
import JunctionProtocol
import Testing

import struct JunctionSession.Randomness

/// JSON-RPC 2.0, sections 4 to 7: one message at a time.
struct EnvelopeTests {
    @Test func `a call with an id is a request`() throws {
        let (call, id) = try request(#"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"minimumValidity":60}}"#)

        #expect(Method(call.name) == .tokenGet)
        #expect(call.params?["minimumValidity"]?.integer == 60)
        #expect(id.number == 1)
    }

    @Test func `a call without an id is a notification`() throws {
        guard case .single(.notification(let call)) = incoming(#"{"jsonrpc":"2.0","method":"foobar"}"#) else {
            Issue.record("not a notification")
            return
        }

        #expect(call.name.string == "foobar")
        #expect(Method(call.name) == nil)
    }

    @Test(arguments: ["1", "-7", "1.50e+2", "123456789012345678901234567890", #""""#, #""a\u0062 \/""#, "null", "0.1"])
    func `an id is repeated exactly as it was written`(_ id: String) throws {
        let (_, read) = try request(#"{"jsonrpc":"2.0","method":"daemon.info","id": \#(id) }"#)

        for id in [read, read.detached] {
            let answer = appended { $0.appendResult(UnsafeRawBufferPointer(start: nil, count: 0), for: id) }
            #expect(answer.hasPrefix(#"{"jsonrpc":"2.0","id":\#(written(id)),"#))
        }
        #expect(written(read) == id)
    }

    @Test(arguments: ["true", "[1]", #"{"a":1}"#])
    func `an id of another type is refused, and the error has the id null`(_ id: String) {
        expectInvalid(#"{"jsonrpc":"2.0","method":"daemon.info","id":\#(id)}"#, code: -32600, id: "null")
    }

    @Test(
        arguments: [
            #"{"jsonrpc":"2.0","id":1,"method":"session.status"}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"session.status","params":null}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"session.status","params":{}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"session.status","params":[ ]}"#,
        ]
    )
    func `absent, null and empty parameters are all nil`(_ line: String) throws {
        let (call, _) = try request(line)

        #expect(call.params == nil)
        #expect(throws: Never.self) { try NoParams(reading: call.params) }
    }

    @Test(arguments: [#""bar""#, "1", "true"])
    func `parameters that are not an object or array make the message invalid`(_ params: String) {
        expectInvalid(#"{"jsonrpc":"2.0","id":5,"method":"session.status","params":\#(params)}"#, code: -32600, id: "5")
    }

    @Test func `a method refuses parameters by position`() throws {
        let (call, _) = try request(#"{"jsonrpc":"2.0","id":1,"method":"token.get","params":[60]}"#)

        let mismatch = #expect(throws: WireMismatch.self) { try TokenGet.Params(reading: call.params) }

        #expect(mismatch.map(WireError.invalidParams)?.code == -32602)
        #expect(mismatch?.description == "'params' must be an object: parameters go by name")
    }

    @Test(
        arguments: [
            #"{"id":1,"method":"session.status"}"#, #"{"jsonrpc":2.0,"id":1,"method":"session.status"}"#,
            #"{"jsonrpc":"1.0","id":1,"method":"session.status"}"#, #"{"jsonrpc":"2.0","id":1}"#,
            #"{"jsonrpc":"2.0","id":1,"method":null}"#, #"{"jsonrpc":"2.0","id":1,"method":1}"#,
            #"{"jsonrpc":"2.0","id":1,"method":["session.status"]}"#,
            #"{"id":1,"jsonrpc":"2.0","method":{},"result":1}"#,
        ]
    )
    func `a message that breaks a rule is refused, and the error has its id`(_ line: String) {
        expectInvalid(line, code: -32600, id: "1")
    }

    @Test(arguments: ["1", "null", #""session.status""#, "true", "{}", #"{"foo":"boo"}"#, "[]"])
    func `JSON that is not a message is an invalid request with the id null`(_ line: String) {
        expectInvalid(line, code: -32600, id: "null")
    }

    @Test(
        arguments: [
            "status", #"{"jsonrpc":"2.0","method":"foobar, "params":"bar","baz]"#, #"{"jsonrpc":"2.0","method""#,
            #"[{"jsonrpc":"2.0","method":"session.status","id":"1"},{"jsonrpc":"2.0","method"]"#, #"{"id":1}{"id":2}"#,
            "{\"jsonrpc\":\"2.0\",\"method\":\"a\u{0}\"}",
        ]
    )
    func `a line that is not JSON is a parse error with the id null`(_ line: String) {
        expectInvalid(line, code: -32700, id: "null")
    }

    @Test func `bytes that are not UTF-8 are a parse error`() {
        let reader = MessageReader()

        let message = ([0x22, 0xC3, 0x28, 0x22] as [UInt8]).withUnsafeBytes { reader.read($0) }

        guard case .single(.invalid(let error, _)) = message else {
            Issue.record("accepted")
            return
        }
        #expect(error.code == -32700)
    }

    @Test func `nesting of more than 128 is a parse error`() {
        func line(_ depth: Int) -> String {
            let arrays = String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1)
            return #"{"jsonrpc":"2.0","id":1,"method":"foobar","params":\#(arrays)}"#
        }

        #expect(throws: Never.self) { try request(line(128)) }
        expectInvalid(line(129), code: -32700, id: "null")
    }

    @Test func `an object with a result or an error and no method is an answer`() throws {
        let result = try answer(#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#)
        let null = try answer(#"{"jsonrpc":"2.0","id":7,"result":null}"#)
        let error = try answer(
            #"{"jsonrpc":"2.0","id":7,"error":{"code":1003,"message":"m","data":{"kind":"notSignedIn"}}}"#
        )

        #expect(result.id.number == 7)
        #expect(try result.outcome.get()["a"]?.integer == 1)
        #expect(try null.outcome.get().isNull)
        #expect(throws: WireError(.notSignedIn, "m")) { try error.outcome.get() }
    }

    @Test func `a malformed answer is still an answer and not answered`() throws {
        let withoutID = try answer(#"{"result":1}"#)
        let badID = try answer(#"{"id":[1],"result":1}"#)
        let badError = try answer(#"{"jsonrpc":"2.0","id":7,"error":"no"}"#)
        let both = try answer(#"{"id":7,"error":{"code":5,"message":"m"},"result":1}"#)
        let onlyNull = try answer(#"{"id":7,"error":null}"#)

        #expect(withoutID.id.number == nil)
        #expect(badID.id.number == nil)
        #expect(throws: WireError.unreadable) { try badError.outcome.get() }
        #expect(throws: WireError.self) { try both.outcome.get() }
        #expect(throws: WireError.unreadable) { try onlyNull.outcome.get() }
    }

    @Test func `members that the specification does not define are ignored`() throws {
        let (call, _) = try request(#"{"jsonrpc":"2.0","id":1,"method":"daemon.info","trace":[1],"result":1}"#)

        #expect(Method(call.name) == .daemonInfo)
    }

    @Test func `every message of a batch is parsed separately`() throws {
        let line = """
            [1,{"jsonrpc":"2.0","id":1,"method":"session.status"},{"jsonrpc":"2.0","method":"foobar"},{"foo":"boo"},\
            {"jsonrpc":"2.0","id":3,"result":null},[]]
            """
        guard case .batch(let batch) = incoming(line) else {
            Issue.record("not a batch")
            return
        }

        #expect(batch.map(kind) == ["invalid", "request", "notification", "invalid", "answer", "invalid"])
    }

    @Test func `one reader reads many lines, and a request stays valid after its line`() throws {
        let reader = MessageReader()
        let held = Array(#"{"jsonrpc":"2.0","id":"held","method":"token.get"}"#.utf8).withUnsafeBytes {
            reader.read($0)
        }
        _ = Array("garbage".utf8).withUnsafeBytes { reader.read($0) }
        let next = Array(#"{"jsonrpc":"2.0","id":2,"method":"session.status"}"#.utf8).withUnsafeBytes {
            reader.read($0)
        }

        guard case .single(.request(let first, let id)) = held, case .single(.request(let second, _)) = next else {
            Issue.record("not requests")
            return
        }
        #expect(Method(first.name) == .tokenGet)
        #expect(written(id) == #""held""#)
        #expect(Method(second.name) == .sessionStatus)
    }

    @Test func `random bytes never trap`() {
        var random = Randomness(seed: 42)
        let reader = MessageReader()
        let pieces =
            [
                "{", "}", "[", "]", ",", ":", #""jsonrpc":"2.0""#, #""id":"#, #""method":"#, #""params":"#,
                #""result":"#,
                #""error":"#, #""token.get""#, #""minimumValidity""#, "1", "-0.5e3", "null", "true", #""\u00e9""#,
                "\u{1}", " ",
            ].map { Array($0.utf8) } + [[0xFF], [0xC3]]
        var calls = 0

        for _ in 0..<200_000 {
            let count = Int.random(in: 0..<12, using: &random)
            let line = (0..<count).flatMap { _ in pieces.randomElement(using: &random) ?? [] }
            switch line.withUnsafeBytes({ reader.read($0) }) {
            case .single(let message): calls += touch(message)
            case .batch(let batch): calls += batch.reduce(0) { $0 + touch($1) }
            }
        }

        #expect(calls > 0)
    }

    private func touch(_ message: Message) -> Int {
        switch message {
        case .request(let call, _), .notification(let call):
            _ = (Method(call.name), DaemonCall(call.name), try? TokenGet.Params(reading: call.params))
            _ = (try? Credential(reading: call.params), try? ApiRequest(reading: call.params))
            return 1
        case .answer(let answer):
            if case .success(let result) = answer.outcome { _ = try? Snapshot(reading: result) }
            return 1
        case .invalid(let error, let id):
            return appended { $0.appendError(error, for: id) }.isEmpty ? 1 : 0
        }
    }
}

// Parsing of test messages.
extension EnvelopeTests {
    private func request(_ line: String) throws -> (Call, RequestID) {
        let incoming = incoming(line)
        guard case .single(.request(let call, let id)) = incoming else { throw Unexpected(incoming: incoming) }
        return (call, id)
    }

    private func answer(_ line: String) throws -> Response {
        let incoming = incoming(line)
        guard case .single(.answer(let answer)) = incoming else { throw Unexpected(incoming: incoming) }
        return answer
    }

    private func expectInvalid(
        _ line: String,
        code: Int,
        id: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard case .single(.invalid(let error, let invalidID)) = incoming(line) else {
            Issue.record("\(line) was taken for a message", sourceLocation: sourceLocation)
            return
        }
        #expect(error.code == code, sourceLocation: sourceLocation)
        #expect(written(invalidID) == id, sourceLocation: sourceLocation)
    }

    private func written(_ id: RequestID) -> String {
        appended { id.append(to: &$0) }
    }

    private func kind(_ message: Message) -> String {
        switch message {
        case .request: "request"
        case .notification: "notification"
        case .answer: "answer"
        case .invalid: "invalid"
        }
    }
}

private struct Unexpected: Error {
    var incoming: Incoming
}
