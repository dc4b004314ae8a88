import JunctionText

/// The meaning of the member `error` in an answer, for any status and content type.
///
/// Some codes are ambiguous. `invalid_grant`, for example, means an expired, revoked or reused token, or a deleted
/// user. So no code ends a session permanently.
enum OAuthError: Hashable, Sendable {
    /// The grant is no longer valid, or a person must act.
    case grant(String)
    /// The server does not accept the client: the configuration is wrong, here or at the server.
    case client(String)
    /// Some servers answer so for an invalid token: `invalid_request`, or 400 or 401 without an error code. A load
    /// balancer may answer like that, too.
    case unexplained(String?)
    /// The codes of RFC 8628 §3.5.
    case pending
    case slowDown
    case denied(String)
    case codeExpired
    /// The server does not know the device code, or no longer knows it. GitHub, Entra and others have their own error
    /// codes for this.
    case badCode(String)
    case unknown(String)

    /// Finds the error in an answer. An error in a 5xx answer, or in a request to wait, proves nothing and is ignored.
    init?(_ answer: HTTPAnswer, _ members: OAuthMembers?) {
        guard answer.isSuccess || answer.mayBeVerdict else { return nil }
        guard let word = members?.text("error") else {
            guard answer.status == 400 || answer.status == 401 else { return nil }
            self = .unexplained(nil)
            return
        }
        self.init(word)
        // A gateway's 403 or 404 may have a member `error`, too.
        if case .unknown = self, !settlesRevocation, !answer.isSuccess, answer.status != 400, answer.status != 401 {
            return nil
        }
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

    /// The error code as the server wrote it.
    var word: String {
        switch self {
        case .grant(let word), .client(let word), .denied(let word), .badCode(let word), .unknown(let word): word
        case .unexplained(let word): word ?? "a refusal without a reason"
        case .pending: "authorization_pending"
        case .slowDown: "slow_down"
        case .codeExpired: "expired_token"
        }
    }

    /// Returns whether a revocation with this answer need not be repeated: the token is already invalid, or the server
    /// cannot revoke tokens of its kind (RFC 7009 §2.2.1).
    var settlesRevocation: Bool {
        switch self {
        case .grant, .codeExpired, .badCode, .unexplained(_?): true
        case .unknown(let word): word == "invalid_token" || word == "unsupported_token_type"
        case .client, .unexplained(nil), .pending, .slowDown, .denied: false
        }
    }

    /// Whether no word of the standard says what is wrong.
    var isUnexplained: Bool {
        switch self {
        case .unexplained, .unknown: true
        case .grant, .client, .pending, .slowDown, .denied, .codeExpired, .badCode: false
        }
    }

    /// Whether the configuration is wrong, here or at the server.
    var isOfClient: Bool { remedy != nil }

    /// The next step if the configuration is wrong.
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

    /// Returns whether a server's text is a plain error code, which messages may repeat. A token has digits or
    /// capitals, or is longer.
    private static func isWord(_ text: String) -> Bool {
        text.utf8.count <= 40
            && text.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "_") }
    }
}
