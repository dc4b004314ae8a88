package import JunctionJSON

/// Messages, written straight to where they go.
extension ByteSink {
    /// Answers a request with a result that is JSON already.
    package mutating func appendResult(_ json: UnsafeRawBufferPointer, for id: RequestID) {
        append("{\"jsonrpc\":\"2.0\",\"id\":")
        id.append(to: &self)
        append(",\"result\":")
        append(json)
        append("}")
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

    /// Answers a batch with the answers it deserves: none at all when everything in it was a notification.
    package mutating func appendBatch(_ answers: [[UInt8]]) {
        guard !answers.isEmpty else { return }
        for (index, answer) in answers.enumerated() {
            append(index == 0 ? "[" : ",")
            answer.withUnsafeBytes { append($0) }
        }
        append("]")
    }

    /// Ends a message: one a line.
    package mutating func endLine() {
        append("\n")
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
