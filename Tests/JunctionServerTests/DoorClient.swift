import JunctionTesting

/// A local program that speaks HTTP.
typealias DoorClient = HttpConnection

extension HttpConnection {
    func send(_ text: String) throws { try socket.send(text) }

    func send(_ bytes: [UInt8]) throws { try socket.send(bytes) }

    /// Sends one request as programs do.
    func request(_ method: String, _ target: String, _ headers: String..., body: String? = nil) throws {
        try request(method, target, headers: headers, body: body.map { Array($0.utf8) })
    }

    /// Asks, and returns the answer.
    func ask(_ method: String, _ target: String, _ headers: String..., body: String? = nil) throws -> Answer {
        try request(method, target, headers: headers, body: body.map { Array($0.utf8) })
        return try answer(toHead: method == "HEAD")
    }

    /// Ends the sending; what is answered can still be read.
    func finish() { socket.finishSending() }
}

extension HttpConnection.Answer {
    /// The kind of an error of the daemon's own.
    var kind: String? { header("junction-error") }
}
