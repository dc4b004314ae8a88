import JunctionClient
import JunctionProtocol

/// The providers that this program knows ways to sign in for.
enum Provider: String, CaseIterable {
    case junction, social, sinch, oauth

    /// The name in texts.
    var name: String {
        switch self {
        case .junction: "Junction"
        case .social: "social.plus"
        case .sinch: "Sinch"
        case .oauth: "OAuth"
        }
    }

    /// The heading of the options that only these providers take.
    static func heading(_ providers: Provider...) -> String { providers.map(\.name).joined(separator: ", ") }

    /// - Parameter name: the daemon's name of the provider.
    init(named name: String) throws {
        guard let known = Provider(rawValue: name) else {
            throw CommandFailure(
                "the daemon's provider '\(name)' is not known to this program",
                kind: "unsupported",
                remedy: "update junctionctl"
            )
        }
        self = known
    }

    /// Returns the daemon's provider, or Junction if this caller may not ask for it. A caller may have the right to
    /// sign users in without that right.
    static func orUsual(_ provider: () throws -> Provider) throws -> Provider {
        do {
            return try provider()
        } catch let error as JunctionError where error.kind == .permissionDenied {
            return .junction
        }
    }

    /// The sign-in without any options.
    var bareSignIn: CredentialForm {
        get throws {
            switch self {
            case .junction: .secret(.standardInput, "Sign-In Token", Credential.signInToken)
            case .social:
                throw CommandFailure(
                    usage: "social.plus has to be told who signs in",
                    remedy: "give --user-id ID, and --auth-token-file FILE if the network is in secure mode"
                )
            case .sinch:
                throw CommandFailure(
                    usage: "Sinch has to be told who signs in",
                    remedy:
                        "give --user-id ID, and --registration-token-file FILE unless a session handler has the token"
                )
            case .oauth: .complete(.device)
            }
        }
    }

    /// Returns the sign-in with only a user id.
    func signIn(ofUserAlone userId: String) throws -> Credential {
        switch self {
        case .junction: .apiKey(nil, userId: userId, environment: nil, region: nil)
        case .social: .userLogin(userId: userId, displayName: nil, authToken: nil)
        case .sinch: .registration(userId: userId, token: nil)
        case .oauth:
            throw CommandFailure(
                usage: "with OAuth the user is whoever approves the sign-in",
                remedy: "leave --user-id out"
            )
        }
    }
}

extension GlobalOptions {
    func provider() throws -> Provider {
        try Provider(named: ask(DaemonInfo.self, NoParams()).value.provider)
    }
}
