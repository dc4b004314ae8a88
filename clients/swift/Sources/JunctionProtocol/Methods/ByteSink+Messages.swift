package import JunctionJSON

/// Messages, written straight to where they go.
extension ByteSink {
    /// Answers a request with a result that is JSON already.
    package mutating func appendResult(_ json: UnsafeRawBufferPointer, for id: RequestID) {
        append("{\"jsonrpc\":\"2.0\",\"id\":")
        id.append(to: &self)
        append(",\"result\":")
        append(json)
        append(UInt8(ascii: "}"))
    }

    /// Answers a request with an error.
    package mutating func appendError(_ error: WireError, for id: RequestID) {
        append("{\"jsonrpc\":\"2.0\",\"id\":")
        id.append(to: &self)
        append(",\"error\":")
        appendJSON { error.write(to: &$0) }
        append("}")
    }

    /// Answers a request of a method with what that method answers.
    package mutating func appendAnswer<Definition: MethodDefinition>(
        of _: Definition.Type,
        _ answer: Definition.Answer,
        for id: RequestID
    ) {
        append("{\"jsonrpc\":\"2.0\",\"id\":")
        id.append(to: &self)
        append(",\"result\":")
        appendJSON { answer.write(to: &$0) }
        append("}")
    }

    /// Begins the answer to `api.request`, up to the body, which follows as the content of a JSON string: escaped where it is
    /// text, in Base64 where it is not.
    ///
    /// - Parameter answer: its body is left out.
    package mutating func beginApiAnswer(_ answer: ApiAnswer, bodyIsText: Bool, for id: RequestID) {
        let empty = ApiAnswer(status: answer.status, headers: answer.headers, body: [])
        var beginning: [UInt8] = []
        beginning.appendAnswer(of: ApiCall.self, empty, for: id)
        beginning.removeLast(#""body":""}}"#.utf8.count)
        beginning.withUnsafeBytes { append($0) }
        append(bodyIsText ? #""body":""# : #""bodyBase64":""#)
    }

    /// Ends that answer.
    package mutating func endApiAnswer() { append(#""}}"#) }

    /// Asks the other side something, under an id of our own.
    package mutating func appendRequest<Definition: MethodDefinition>(
        of _: Definition.Type,
        _ params: Definition.Params,
        id: Int64
    ) {
        append("{\"jsonrpc\":\"2.0\",\"id\":")
        RequestID(id).append(to: &self)
        appendCall(Definition.name, params)
    }

    /// Asks the other side something by a name and with parameters that somebody else made, which are one line.
    package mutating func appendRequest(of method: String, _ params: JSONValue?, id: Int64) {
        append("{\"jsonrpc\":\"2.0\",\"id\":")
        RequestID(id).append(to: &self)
        append(",\"method\":")
        appendJSON { $0.string(method) }
        if let params {
            append(",\"params\":")
            params.withRawText { append($0) }
        }
        append("}")
    }

    /// Tells the other side something.
    package mutating func appendNotification<Definition: MethodDefinition>(
        of _: Definition.Type,
        _ params: Definition.Params
    ) {
        append("{\"jsonrpc\":\"2.0\"")
        appendCall(Definition.name, params)
    }

    /// Ends a message: one a line.
    package mutating func endLine() {
        append(UInt8(ascii: "\n"))
    }

    private mutating func appendCall(_ name: StaticString, _ params: some WireValue) {
        append(",\"method\":\"")
        append(name)
        append("\",\"params\":")
        appendJSON { params.write(to: &$0) }
        append("}")
    }

    private mutating func appendJSON(_ body: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        body(&writer)
        writer.withUnsafeBytes { append($0) }
    }
}
