import Foundation
import JunctionTesting

/// A local app that identifies its users, and hands out a token when the daemon asks for one.
final class IdentifyingApp {
    private let installation: Installation
    private let client: RawClient?
    /// The provider's id of each of the app's users.
    private let users: [String: String]
    /// How often the daemon asked.
    private(set) var questions = 0

    init(_ installation: Installation, users: [String: String]) {
        self.installation = installation
        self.users = users
        client = try? installation.connect()
    }

    /// Makes a user of the app's the signed-in one, and answers the question if there is one.
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
            guard let client else { throw Program.Failure(description: "The daemon cannot be reached") }
            return client
        }
    }
}
