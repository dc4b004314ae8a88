import Foundation
import JunctionTesting

/// An app that identifies its users and returns a token when the daemon asks for one.
final class IdentifyingApp {
    private let installation: Installation
    private let client: RawClient?
    /// The provider's user ids by the app's user ids.
    private let users: [String: String]
    /// The number of questions of the daemon.
    private(set) var questions = 0

    init(_ installation: Installation, users: [String: String]) {
        self.installation = installation
        self.users = users
        client = try? installation.connect()
    }

    /// Calls `identify` for a user of the app, and answers the daemon's question if there is one.
    @discardableResult
    func identify(_ externalUserId: String) throws -> Object {
        let client = try connection
        let request = try begin(externalUserId)
        while true {
            let message = try client.message()
            if message["method"] as? String == "session.authenticate", let question = message["id"] {
                questions += 1
                try client.reply(to: question, installation.cloud.credential(for: users[externalUserId] ?? ""))
            } else if message["id"] as? Int == request {
                guard let result = message["result"] as? Object else {
                    throw RemoteError(message["error"] as? Object ?? [:])
                }
                return result
            }
        }
    }

    func begin(_ externalUserId: String) throws -> Int {
        try connection.request("session.identify", ["externalUserId": externalUserId])
    }

    var connection: RawClient {
        get throws {
            guard let client else { throw TestFailure(description: "The daemon cannot be reached") }
            return client
        }
    }
}
