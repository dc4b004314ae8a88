import JunctionJSON
import JunctionProtocol
import JunctionSecret

/// Makes the lines that the client sends, each in separate memory that is wiped.
enum OutgoingLine {
    static func request<Definition: MethodDefinition>(
        _ method: Definition.Type,
        _ params: Definition.Params,
        id: Int64
    ) throws(JunctionError) -> WipedBuffer {
        var line = WipedBuffer()
        line.appendRequest(of: method, params, id: id)
        return try ended(line)
    }

    /// Makes a call of any method by its name.
    static func request(_ method: String, _ params: JSONValue?, id: Int64) throws(JunctionError) -> WipedBuffer {
        var line = WipedBuffer()
        line.appendRequest(of: method, params, id: id)
        return try ended(line)
    }

    private static func ended(_ request: WipedBuffer) throws(JunctionError) -> WipedBuffer {
        var line = request
        // The daemon would answer a longer line with an error without a request id, and close the connection.
        guard line.count <= LineSplitter.longestLine else { throw .requestTooLarge }
        line.endLine()
        return line
    }

    /// Makes the answer to a request of the daemon.
    static func response(_ outcome: Result<any WireValue, WireError>, to id: RequestID) -> WipedBuffer {
        var line = WipedBuffer()
        switch outcome {
        case .success(let value):
            var writer = JSONWriter()
            value.write(to: &writer)
            writer.withUnsafeBytes { line.appendResult($0, for: id) }
        case .failure(let error):
            line.appendError(error, for: id)
        }
        line.endLine()
        return line
    }
}

extension WipedBuffer {
    /// Returns the content in a box that can be passed to another thread.
    func sealed() -> SharedSecret {
        withExtendedLifetime(self) { SharedSecret(copying: bytes) }
    }
}

extension UnixSocket {
    func send(_ line: WipedBuffer, by deadline: Deadline = .never) throws(JunctionError) {
        try withExtendedLifetime(line) { () throws(JunctionError) in try send(line.bytes, by: deadline) }
    }
}
