import Foundation

/// Many clients that request a token at the same time.
struct ConcurrentCallers {
    private let clients: [(client: RawClient, requests: [Int])]

    struct Answer {
        var result: Object?
        var error: RemoteError?
    }

    /// Sends all requests. Returns when the daemon has read them, because a later request on each connection was
    /// answered.
    init(_ installation: Installation, connections: Int, callsEach: Int) throws {
        clients = try (0..<connections).map { _ in
            let client = try installation.connect()
            let requests = try (0..<callsEach).map { _ in try client.request("token.get") }
            return (client, requests)
        }
        for (client, _) in clients { try client.call("daemon.info") }
    }

    func answers() throws -> [Answer] {
        try clients.flatMap { client, requests in
            try requests.map { _ in
                let envelope = try client.message()
                return Answer(
                    result: envelope["result"] as? Object,
                    error: (envelope["error"] as? Object).map(RemoteError.init)
                )
            }
        }
    }
}
