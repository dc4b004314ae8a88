import JunctionClient
import JunctionProtocol

/// The providers whose ways to sign in this program knows.
enum Provider: String, CaseIterable {
    case junction, social, sinch, oauth

    /// As people write it.
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

    /// - Parameter name: as the daemon calls it.
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

    /// The daemon's provider, or the usual one: whoever may sign users in need not be allowed to ask.
    static func orUsual(_ provider: () throws -> Provider) throws -> Provider {
        do {
            return try provider()
        } catch let error as JunctionError where error.kind == .permissionDenied {
            return .junction
        }
    }

    /// Signing in with nothing said about it but who is meant, if that.
    var bareSignIn: CredentialForm {
        get throws {
            switch self {
            case .junction: .signInToken(.standardInput)
            case .social:
                throw CommandFailure(
                    "social.plus has to be told who signs in",
                    kind: "usage",
                    remedy: "give --user-id ID, and --auth-token-file FILE if the network is in secure mode",
                    status: .usage
                )
            case .sinch:
                throw CommandFailure(
                    "Sinch has to be told who signs in",
                    kind: "usage",
                    remedy:
                        "give --user-id ID, and --registration-token-file FILE unless a session handler has the token",
                    status: .usage
                )
            case .oauth: .device
            }
        }
    }

    /// Signing a user in with nothing else said about it.
    func signIn(ofUserAlone userId: String) throws -> CredentialForm {
        switch self {
        case .junction: .apiKey(nil, userId: userId, environment: nil, region: nil)
        case .social: .userLogin(userId: userId, displayName: nil, authToken: nil)
        case .sinch: .registration(userId: userId, token: nil)
        case .oauth:
            throw CommandFailure(
                "with OAuth the user is whoever approves the sign-in",
                kind: "usage",
                remedy: "leave --user-id out",
                status: .usage
            )
        }
    }
}

extension GlobalOptions {
    /// The provider whose user the daemon signs in.
    func provider() throws -> Provider {
        try Provider(named: ask(DaemonInfo.self, NoParams()).value.provider)
    }
}
