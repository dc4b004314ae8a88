import FoundationEssentials

/// What may be asked of the token endpoint.
enum Grant: String, Codable, Sendable {
    case exchange
    case refresh = "refresh_token"

    static let exchangeName = "urn:ietf:params:oauth:grant-type:token-exchange"
    static let signInTokenType = "urn:junction:sign-in-token"

    init?(_ form: Form) {
        switch form["grant_type"] {
        case Self.exchangeName: self = .exchange
        case Self.refresh.rawValue: self = .refresh
        default: return nil
        }
    }
}

/// What the token endpoint answers.
enum TokenAnswer: Equatable, Sendable {
    case granted(IssuedTokens)
    /// A refresh with a replaced token within its grace.
    case replayed(IssuedTokens)
    /// The Sign-In Token was refused, or the user is gone for good.
    case invalidToken(String)
    /// The user is all right, the sign-in is not.
    case reauthenticationRequired(String)
    /// The same, and it is this very request that ended the family.
    case familyRevoked
    case invalidRequest(String)

    /// Its name in the counters.
    var outcome: String {
        switch self {
        case .granted: "granted"
        case .replayed: "replayed"
        case .invalidToken: "invalid_token"
        case .reauthenticationRequired: "reauthentication_required"
        case .familyRevoked: "family_revoked"
        case .invalidRequest: "invalid_request"
        }
    }
}

extension JunctionState {
    /// Turns a Sign-In Token into a sign-in. `claims` is what the mint read in it, if it is genuine.
    mutating func exchange(
        _ userToken: String,
        claims: SignInTokenMint.Claims?,
        settings: Settings,
        now: Date
    ) -> TokenAnswer {
        guard let claims else {
            return .invalidToken("subject_token is not a user_token of this cloud (the inner JWT, not the envelope)")
        }
        guard now < claims.expiresAt else { return .invalidToken("the Sign-In Token has expired") }
        guard let user = users[claims.userId], user.standing == .active, user.team.id == claims.teamId else {
            return .invalidToken("the user of this Sign-In Token does not exist or was deleted or disabled")
        }
        let isFirst = spentSignInTokens.insert(TokenText.fingerprint(userToken)).inserted
        guard isFirst || !settings.singleUseSignInTokens else {
            return .invalidToken("the Sign-In Token was exchanged before")
        }
        return .granted(families.open(for: user.id, on: settings.terms, now: now))
    }

    /// Turns a refresh token into the next pair.
    mutating func refresh(_ refreshToken: String, settings: Settings, now: Date) -> TokenAnswer {
        guard let owner = families.owner(ofRefreshToken: refreshToken) else {
            return .reauthenticationRequired("the refresh token is unknown")
        }
        guard users[owner]?.standing == .active else {
            return .invalidToken("the user was deleted or disabled")
        }
        return switch families.rotate(refreshToken, on: settings.terms, now: now) {
        case .rotated(let tokens): .granted(tokens)
        case .replayed(let tokens): .replayed(tokens)
        case .reused: .familyRevoked
        case .ended: .reauthenticationRequired("this sign-in was ended; sign in again")
        }
    }
}

extension Settings {
    fileprivate var terms: TokenFamilies.Terms {
        TokenFamilies.Terms(
            accessTokenLifetime: accessTokenLifetime ?? TokenFamilies.usualLifetime,
            grace: rotationGrace
        )
    }
}
