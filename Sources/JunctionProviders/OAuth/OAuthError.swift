/// What a server says in the member `error` of an answer, whatever the status and the content type.
///
/// One word has several meanings: `invalid_grant` is an expired, revoked or replayed token and a user who is gone, so no
/// word ends a session for good.
enum OAuthError: Hashable, Sendable {
    /// What was to be redeemed is not good any more, or a person has to do something.
    case grant(String)
    /// The client is not what the server wants: a mistake of the configuration, here or there.
    case client(String)
    /// Servers that know no better say so of a dead token: `invalid_request`, and a 400 or 401 without a word. A load
    /// balancer answers like that, too.
    case unexplained(String?)
    /// RFC 8628 §3.5.
    case pending
    case slowDown
    case denied(String)
    case codeExpired
    /// A code that the server does not know, or not any more; GitHub, Entra and others have words of their own.
    case badCode(String)
    /// A word that nobody knows.
    case unknown(String)

    /// Finds the error in an answer. What a server says beside a 5xx, or when it only asks to wait, proves nothing.
    init?(_ answer: HttpAnswer, _ members: OAuthMembers?) {
        guard answer.isSuccess || answer.mayBeVerdict else { return nil }
        guard let word = members?.text("error") else {
            guard answer.status == 400 || answer.status == 401 else { return nil }
            self = .unexplained(nil)
            return
        }
        self.init(word)
    }

    private init(_ word: String) {
        switch word {
        case "invalid_grant", "login_required", "interaction_required", "consent_required",
            "account_selection_required", "bad_refresh_token":
            self = .grant(word)
        case "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope", "invalid_target",
            "incorrect_client_credentials", "device_flow_disabled", "invalid_dpop_proof", "use_dpop_nonce":
            self = .client(word)
        case "invalid_request": self = .unexplained(word)
        case "authorization_pending": self = .pending
        case "slow_down": self = .slowDown
        case "access_denied", "authorization_declined": self = .denied(word)
        case "expired_token": self = .codeExpired
        case "bad_verification_code", "incorrect_device_code", "device_not_found": self = .badCode(word)
        default: self = .unknown(Self.isWord(word) ? word : "an error that is no word")
        }
    }

    /// As the server wrote it.
    var word: String {
        switch self {
        case .grant(let word), .client(let word), .denied(let word), .badCode(let word), .unknown(let word): word
        case .unexplained(let word): word ?? "a refusal without a reason"
        case .pending: "authorization_pending"
        case .slowDown: "slow_down"
        case .codeExpired: "expired_token"
        }
    }

    /// Whether a revocation that is answered so need not be tried again: the token is good for nothing any more, or the
    /// server revokes none of its kind (RFC 7009 §2.2.1).
    var settlesRevocation: Bool {
        switch self {
        case .grant, .codeExpired, .badCode, .unexplained(_?): true
        case .unknown(let word): word == "invalid_token" || word == "unsupported_token_type"
        case .client, .unexplained(nil), .pending, .slowDown, .denied: false
        }
    }

    /// Whether the configuration is wrong, here or at the server.
    var isOfClient: Bool { remedy != nil }

    /// What to do about it, where the configuration is wrong.
    var remedy: String? {
        guard case .client(let word) = self else { return nil }
        return switch word {
        case "invalid_client", "incorrect_client_credentials":
            "check oauth.clientId, oauth.clientAuthentication and the client's secret or key"
        case "unauthorized_client", "unsupported_grant_type", "device_flow_disabled":
            "allow this client the grant type at the server"
        case "invalid_scope": "check oauth.scopes against what the server allows this client"
        case "invalid_target": "check oauth.audience and oauth.resource"
        default:
            "the server wants proof of possession (DPoP), which this daemon does not have: turn it off for this client"
        }
    }

    /// What a server chose to say is not repeated unless it is a word.
    private static func isWord(_ text: String) -> Bool {
        text.utf8.count <= 64 && text.utf8.allSatisfy(PercentEncoding.isUnreserved)
    }
}
