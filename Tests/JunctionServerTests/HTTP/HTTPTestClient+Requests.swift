import JunctionTesting

extension HTTPTestClient {
    func send(_ text: String) throws { try socket.send(text) }

    func send(_ bytes: [UInt8]) throws { try socket.send(bytes) }

    func request(_ method: String, _ target: String, _ headers: String..., body: String? = nil) throws {
        try request(method, target, headers: headers, body: body.map { Array($0.utf8) })
    }

    func ask(_ method: String, _ target: String, _ headers: String..., body: String? = nil) throws -> Answer {
        try request(method, target, headers: headers, body: body.map { Array($0.utf8) })
        return try answer(toHead: method == "HEAD")
    }

    /// Ends the output. Answers can still be read.
    func finish() { socket.finishSending() }
}

extension HTTPTestClient.Answer {
    /// The kind of an error of the daemon.
    var kind: String? { header("junction-error") }
}
