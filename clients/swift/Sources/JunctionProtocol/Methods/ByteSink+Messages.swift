package import JunctionJSON

/// Functions that write messages directly to a buffer.
extension ByteSink {
    /// Appends the answer to a request, with a result that is already JSON.
    package mutating func appendResult(_ json: UnsafeRawBufferPointer, for id: RequestID) {
        append("{\"jsonrpc\":\"2.0\",\"id\":")
        id.append(to: &self)
        append(",\"result\":")
        append(json)
        append(UInt8(ascii: "}"))
    }

    /// Appends the error answer to a request.
    package mutating func appendError(_ error: WireError, for id: RequestID) {
        append("{\"jsonrpc\":\"2.0\",\"id\":")
        id.append(to: &self)
        append(",\"error\":")
        appendJSON { error.write(to: &$0) }
        append("}")
    }

    /// Appends the answer to a request, with the answer of a method.
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

    /// Appends the beginning of the answer to `api.request`, up to the body. The body follows as the content of a JSON
    /// string: escaped if it is text, otherwise in Base64.
    ///
    /// - Parameter answer: the answer. Its body is ignored.
    package mutating func beginApiAnswer(_ answer: ApiAnswer, bodyIsText: Bool, for id: RequestID) {
        let empty = ApiAnswer(status: answer.status, headers: answer.headers, body: [])
        var beginning: [UInt8] = []
        beginning.appendAnswer(of: ApiCall.self, empty, for: id)
        beginning.removeLast(#""body":""}}"#.utf8.count)
        beginning.withUnsafeBytes { append($0) }
        append(bodyIsText ? #""body":""# : #""bodyBase64":""#)
    }

    /// Appends the end of the answer to `api.request`.
    package mutating func endApiAnswer() { append(#""}}"#) }

    /// Appends a request with an id of this side.
    package mutating func appendRequest<Definition: MethodDefinition>(
        of _: Definition.Type,
        _ params: Definition.Params,
        id: Int64
    ) {
        append("{\"jsonrpc\":\"2.0\",\"id\":")
        RequestID(id).append(to: &self)
        appendCall(Definition.name, params)
    }

    /// Appends a request with any method name and parameters. `params` must not contain a line break.
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

    /// Appends a notification.
    package mutating func appendNotification<Definition: MethodDefinition>(
        of _: Definition.Type,
        _ params: Definition.Params
    ) {
        append("{\"jsonrpc\":\"2.0\"")
        appendCall(Definition.name, params)
    }

    /// Appends the line feed that ends a message.
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
