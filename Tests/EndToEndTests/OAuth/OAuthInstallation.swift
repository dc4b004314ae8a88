import Foundation
import JunctionTesting
import Testing

extension Installation {
    /// Creates an installation whose provider is the sandbox's OAuth server. The daemon polls a little less often than
    /// once a second.
    static func oauth(
        accessTokenLifetime: Int = 3_600,
        rotationGrace: Int = 30,
        settings: Object = [:],
        providerSettings: String = "clientId = \"sandbox-public\"",
        configuration: String = "",
        beforeStart prepare: (Installation) throws -> Void = { _ in }
    ) throws -> Installation {
        let installation = try Installation(
            accessTokenLifetime: accessTokenLifetime,
            rotationGrace: rotationGrace,
            configuration: configuration
        )
        try installation.cloud.sandbox("POST", "oauth/settings", settings.merging(["interval": 1]) { old, _ in old })
        for name in ["alice", "bob"] { try installation.cloud.sandbox("POST", "oauth/users", ["name": name]) }
        installation.providerSettings = { cloud in
            """
            provider = "oauth"
            [oauth]
            issuer = "\(cloud)/oauth"
            scopes = ["openid", "offline_access"]
            apiUrl = "\(cloud)/oauth-api/v1/"
            \(providerSettings)
            """
        }
        try prepare(installation)
        try installation.startDaemon()
        return installation
    }

    func beginDeviceSignIn() throws -> Object {
        let snapshot = try connect().call("session.signIn", ["scheme": "device"])
        guard snapshot.state == "establishing", let authorization = snapshot["authorization"] as? Object else {
            throw TestFailure(description: "No codes: \(snapshot)")
        }
        return authorization
    }

    @discardableResult
    func signInByDevice() throws -> Object {
        let watcher = try watch()
        let codes = try beginDeviceSignIn()
        try cloud.decide(codes.userCode, "approve")
        return try watcher.awaitSnapshot { $0.state == "established" }
    }
}

extension Cloud {
    /// Submits the approval form with a code and a decision, as a user does.
    func decide(_ userCode: String, _ decision: String, as user: String = "alice") throws {
        let (status, _) = try post("/oauth/device", ["user_code": userCode, "user": user, "decision": decision])
        guard status == 200 else { throw TestFailure(description: "The page answered \(status) to \(decision)") }
    }

    /// Returns the user and the state of a token.
    func introspect(_ token: String?) throws -> Object {
        try sandbox("POST", "oauth/introspect", ["token": token ?? ""])
    }

    func oauthLogins() throws -> [Object] {
        try sandbox("GET", "oauth/logins")["logins"] as? [Object] ?? []
    }

    func driveOAuth(_ verb: String) throws {
        try sandbox("POST", "oauth/users/alice/\(verb)")
    }
}

extension Object {
    var userCode: String { self["userCode"] as? String ?? "" }
    var authorization: Object? { self["authorization"] as? Object }
    var lastError: String { renewal["lastError"] as? String ?? "" }
    var isAlive: Bool { self["isAlive"] as? Bool ?? false }
}
