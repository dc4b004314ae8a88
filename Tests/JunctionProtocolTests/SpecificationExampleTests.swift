import JunctionProtocol
import Testing

/// The examples of JSON-RPC 2.0, section 7, with methods of this project, against a minimal server.
struct SpecificationExampleTests {
    @Test(
        arguments: [
            // Parameters by position. The methods here take parameters only by name.
            (
                #"{"jsonrpc":"2.0","method":"session.reconcile","params":["u"],"id":1}"#,
                #"{"jsonrpc":"2.0","id":1,"error":-32602}"#
            ),
            (
                #"{"jsonrpc":"2.0","method":"token.get","params":[23,42],"id":2}"#,
                #"{"jsonrpc":"2.0","id":2,"error":-32602}"#
            ),
            // Parameters by name, in any order.
            (
                #"{"jsonrpc":"2.0","method":"api.request","params":{"method":"GET","path":"/v2"},"id":3}"#,
                #"{"jsonrpc":"2.0","id":3,"result":"api.request"}"#
            ),
            (
                #"{"jsonrpc":"2.0","method":"api.request","params":{"path":"/v2","method":"GET"},"id":4}"#,
                #"{"jsonrpc":"2.0","id":4,"result":"api.request"}"#
            ),
            // Notifications: of a method that exists, and of one that does not.
            (#"{"jsonrpc":"2.0","method":"session.renew","params":[1,2,3,4,5]}"#, ""),
            (#"{"jsonrpc":"2.0","method":"foobar"}"#, ""),
            // A method that does not exist.
            (#"{"jsonrpc":"2.0","method":"foobar","id":"1"}"#, #"{"jsonrpc":"2.0","id":"1","error":-32601}"#),
            // Invalid JSON.
            (
                #"{"jsonrpc":"2.0","method":"foobar, "params":"bar","baz]"#,
                #"{"jsonrpc":"2.0","id":null,"error":-32700}"#
            ),
            // An invalid request.
            (#"{"jsonrpc":"2.0","method":1,"params":"bar"}"#, #"{"jsonrpc":"2.0","id":null,"error":-32600}"#),
            // A batch with invalid JSON.
            (
                #"[{"jsonrpc":"2.0","method":"session.status","id":"1"},{"jsonrpc":"2.0","method"]"#,
                #"{"jsonrpc":"2.0","id":null,"error":-32700}"#
            ),
            // An empty batch, and batches of invalid messages.
            ("[]", #"{"jsonrpc":"2.0","id":null,"error":-32600}"#),
            ("[1]", #"[{"jsonrpc":"2.0","id":null,"error":-32600}]"#),
            (
                "[1,2,3]",
                """
                [{"jsonrpc":"2.0","id":null,"error":-32600},{"jsonrpc":"2.0","id":null,"error":-32600},\
                {"jsonrpc":"2.0","id":null,"error":-32600}]
                """
            ),
            // A batch of different messages.
            (
                """
                [{"jsonrpc":"2.0","method":"session.status","id":"1"},{"jsonrpc":"2.0","method":"session.renew"},\
                {"jsonrpc":"2.0","method":"token.get","params":{"minimumValidity":42},"id":"2"},{"foo":"boo"},\
                {"jsonrpc":"2.0","method":"foo.get","params":{"name":"myself"},"id":"5"},\
                {"jsonrpc":"2.0","method":"daemon.info","id":"9"}]
                """,
                """
                [{"jsonrpc":"2.0","id":"1","result":"session.status"},{"jsonrpc":"2.0","id":"2","result":"token.get"},\
                {"jsonrpc":"2.0","id":null,"error":-32600},{"jsonrpc":"2.0","id":"5","error":-32601},\
                {"jsonrpc":"2.0","id":"9","result":"daemon.info"}]
                """
            ),
            // A batch of notifications only.
            (#"[{"jsonrpc":"2.0","method":"session.renew"},{"jsonrpc":"2.0","method":"foobar"}]"#, ""),
        ]
    )
    func `an example is answered as the specification requires`(_ line: String, _ answer: String) {
        let answered = appended { output in
            switch incoming(line) {
            case .single(let message): respond(to: message, into: &output)
            case .batch(let batch):
                let answers = batch.map { message in
                    var answer: [UInt8] = []
                    respond(to: message, into: &answer)
                    return answer
                }
                let told = answers.filter { !$0.isEmpty }
                if !told.isEmpty { output += Array("[".utf8) + told.joined(separator: ",".utf8) + Array("]".utf8) }
            }
        }

        #expect(
            answered.replacing(#/"error":{"code":(-?\d+),"message":"[^}]*"}/#) { "\"error\":\($0.output.1)" } == answer
        )
    }

    /// Answers with the method's name or an error.
    private func respond(to message: Message, into output: inout [UInt8]) {
        switch message {
        case .notification, .answer: break
        case .invalid(let error, let id): output.appendError(error, for: id)
        case .request(let call, let id):
            guard let method = Method(call.name) else { return output.appendError(.methodNotFound, for: id) }
            do throws(WireMismatch) {
                _ = try method.definition.read(call)
                Array("\"\(method.name)\"".utf8).withUnsafeBytes { output.appendResult($0, for: id) }
            } catch {
                output.appendError(.invalidParams(error), for: id)
            }
        }
    }
}

extension MethodDefinition {
    fileprivate static func read(_ call: Call) throws(WireMismatch) -> Params {
        try Params(reading: call.params)
    }
}
