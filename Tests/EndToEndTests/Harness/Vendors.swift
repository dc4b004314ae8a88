import Foundation

extension Installation {
    /// The vendor's published test application, which the sandbox knows.
    static let sinchApplication = "a32e5a8d-f7d8-411c-9645-9038e8dd051d"
    static let sinchSecret = "ax8hTTQJF0OPXL32r1LHMA=="

    static func social() throws -> Installation {
        let installation = try Installation()
        let key = try installation.folder.write("sandbox-api-key\n", to: "api-key")
        installation.vendor = { cloud in
            """
            provider = "social"
            [social]
            apiUrl = "\(cloud)"
            apiKeyFile = "\(key)"
            """
        }
        try installation.startDaemon()
        return installation
    }

    static func sinch(selfSigning: Bool = false) throws -> Installation {
        let installation = try Installation()
        let secret = try installation.folder.write(sinchSecret + "\n", to: "application-secret")
        installation.vendor = { cloud in
            """
            provider = "sinch"
            [sinch]
            applicationKey = "\(sinchApplication)"
            registrationUrl = "\(cloud)/v1/instance"
            \(selfSigning ? "applicationSecretFile = \"\(secret)\"" : "")
            """
        }
        try installation.startDaemon()
        return installation
    }

    /// Junction, with a local app asked before each renewal.
    static func junctionWithHandlers() throws -> Installation {
        try started(configuration: "[renewal]\nmode = \"handler\"\nhandlerTimeout = 5")
    }

    /// A registration token, as the app's server makes one.
    func registrationToken(for user: String) throws -> String {
        let answer = try cloud.sandbox("POST", "sinch/registration-token", ["userId": user])
        guard let token = answer["token"] as? String ?? answer["registrationToken"] as? String else {
            throw Program.Failure(description: "No registration token: \(answer)")
        }
        return token
    }
}

/// A local app that offers to be asked when the session is to be renewed.
final class RenewingApp {
    let client: RawClient

    init(_ installation: Installation) throws {
        client = try installation.connect()
        try client.call("handler.register")
    }

    /// Waits for the question, and answers it.
    @discardableResult
    func answer(_ answer: Object) throws -> Object {
        let question = try client.question()
        guard question.method == "session.willRenewAccessToken" else {
            throw Program.Failure(description: "The daemon asked \(question.method)")
        }
        try client.reply(to: question.identifier, answer)
        return question.params
    }
}
