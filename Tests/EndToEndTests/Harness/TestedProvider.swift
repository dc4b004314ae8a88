import Foundation
import JunctionTesting
import Testing

extension Installation {
    /// The provider's published test application, which the sandbox accepts.
    static let sinchApplication = "a32e5a8d-f7d8-411c-9645-9038e8dd051d"
    static let sinchSecret = "ax8hTTQJF0OPXL32r1LHMA=="

    static func social(configuration: String = "") throws -> Installation {
        let installation = try Installation(configuration: configuration)
        let key = try installation.folder.write("sandbox-api-key\n", to: "api-key")
        installation.providerSettings = { cloud in
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

    static func sinch(selfSigning: Bool = false, configuration: String = "") throws -> Installation {
        let installation = try Installation(configuration: configuration)
        let secret = try installation.folder.write(sinchSecret + "\n", to: "application-secret")
        installation.providerSettings = { cloud in
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

    /// Junction with `renewal.mode = "handler"`.
    static func junctionWithHandlers() throws -> Installation {
        try started(configuration: "[renewal]\nmode = \"handler\"")
    }

    /// Junction in handler mode, with a shifted clock for the daemon.
    ///
    /// - Parameter configuration: Additional configuration lines.
    static func junctionWithHandlersAndTime(
        _ configuration: String = ""
    ) throws -> (installation: Installation, time: ShiftedTime) {
        let installation = try Installation(configuration: "[renewal]\nmode = \"handler\"\n\(configuration)")
        let time = try ShiftedTime(installation)
        try installation.startDaemon()
        return (installation, time)
    }

    /// Returns a registration token as an app's backend creates it, or one with the deviations of `docs/sandbox.md`.
    func registrationToken(for user: String, _ options: Object = [:]) throws -> String {
        let answer = try cloud.sandbox("POST", "sinch/users/\(user)/registration-token", options)
        guard let token = answer["registrationToken"] as? String else {
            throw TestFailure(description: "No registration token: \(answer)")
        }
        return token
    }

    /// Returns the credential that registers a user with Sinch.
    func registration(of user: String, _ options: Object = [:]) throws -> Object {
        ["scheme": "registration", "userId": user, "token": try registrationToken(for: user, options)]
    }

    /// Returns an auth token, by which an app's backend vouches for a user of social.plus.
    func authToken(for user: String) throws -> String {
        let answer = try cloud.sandbox("POST", "social/users/\(user)/auth-token")
        guard let token = answer["authToken"] as? String else {
            throw TestFailure(description: "No auth token: \(answer)")
        }
        return token
    }
}

/// The providers that a daemon supports, each with a user that can sign in.
enum TestedProvider: String, CaseIterable, CustomTestStringConvertible {
    case junction
    case social
    case sinch
    case oauth

    var testDescription: String { rawValue }

    func started() throws -> Installation {
        switch self {
        case .junction: try .started()
        case .social: try .social()
        case .sinch: try .sinch()
        case .oauth: try .oauth()
        }
    }

    func credential(_ installation: Installation) throws -> Object {
        switch self {
        case .junction: try installation.cloud.credential(for: try installation.cloud.makeUser())
        case .social: ["scheme": "userLogin", "userId": "anna"]
        case .sinch: try installation.registration(of: "anna")
        case .oauth:
            [
                "scheme": "refreshToken",
                "refreshToken": try installation.cloud.sandbox("POST", "oauth/users/alice/tokens", [:])["refreshToken"]
                    as? String ?? "",
            ]
        }
    }
}

/// A session handler that a test controls.
final class RenewingApp {
    let client: RawClient
    private let installation: Installation

    init(_ installation: Installation) throws {
        self.installation = installation
        client = try installation.connect()
        try client.call("handler.register")
    }

    /// Waits for the daemon's question and answers it.
    @discardableResult
    func answer(_ answer: Object) throws -> Object {
        let question = try question()
        try client.reply(to: question.identifier, answer)
        return question.params
    }

    /// Has another client request a renewal, answers the daemon's question, and returns the client's result.
    @discardableResult
    func renewal(answering answer: Object) throws -> Object {
        let (caller, renewal) = try requestRenewal(answering: answer)
        return try caller.answer(to: renewal)
    }

    /// Does the same for a renewal that fails, and returns the client's error.
    @discardableResult
    func refusedRenewal(answering answer: Object) throws -> RemoteError {
        let (caller, renewal) = try requestRenewal(answering: answer)
        return try caller.refusal(of: renewal)
    }

    private func requestRenewal(answering answer: Object) throws -> (RawClient, Int) {
        let caller = try installation.connect()
        let renewal = try caller.request("session.renew")
        try self.answer(answer)
        return (caller, renewal)
    }

    /// Waits for the daemon's question without answering.
    func question() throws -> (identifier: Any, params: Object) {
        let question = try client.question()
        guard question.method == "session.willRenewAccessToken" else {
            throw TestFailure(description: "The daemon asked \(question.method)")
        }
        return (question.identifier, question.params)
    }

    /// Returns whether the daemon has not asked a question before it answers another request.
    func hasNoQuestion() throws -> Bool {
        let request = try client.request("session.status")
        let first = try client.message()
        return first["method"] == nil && first["id"] as? Int == request
    }
}
