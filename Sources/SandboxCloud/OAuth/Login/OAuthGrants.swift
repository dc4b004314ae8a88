import FoundationEssentials

struct OAuthGrant: Sendable {
    let tokens: IssuedTokens
    /// The subject of the id_token, if the answer has one. `nonce` is the value that the id_token repeats.
    var idTokenSubject: String?
    var nonce: String?
}

extension CloudState {
    /// Carries out a token request of an authenticated client.
    mutating func grant(
        _ grant: GrantType,
        _ form: Form,
        to client: OAuthClient,
        at moment: Moment
    ) throws(TokenRefusal) -> OAuthGrant {
        guard !moment.settings.oauth.unauthorizedGrants.contains(grant) else {
            throw TokenError.unauthorizedClient.because("this client may not use \(grant.wireName)")
        }
        return switch grant {
        case .deviceCode: try deviceCode(form, client, at: moment)
        case .authorizationCode: try authorizationCode(form, client, at: moment)
        case .refresh: try refresh(form, client, at: moment)
        case .exchange: try exchange(form, client, at: moment)
        }
    }

    private mutating func deviceCode(
        _ form: Form,
        _ client: OAuthClient,
        at moment: Moment
    ) throws(TokenRefusal) -> OAuthGrant {
        let (request, user) = try devices.poll(
            try form.require("device_code"),
            by: client.id,
            verifier: form["code_verifier"],
            tellsExpiry: moment.settings.oauth.tellsExpiry,
            now: moment.now
        )
        try requireServed(user, at: moment)
        return open(request.login(of: user, openedBy: .deviceCode, now: moment.now), at: moment)
    }

    private mutating func authorizationCode(
        _ form: Form,
        _ client: OAuthClient,
        at moment: Moment
    ) throws(TokenRefusal) -> OAuthGrant {
        let code = try form.require("code")
        if let login = codes.login(of: code) { logins.end(login, because: .codeReused, now: moment.now) }
        let (request, user) = try codes.request(
            code,
            by: client.id,
            redirectUri: form["redirect_uri"],
            verifier: form["code_verifier"],
            now: moment.now
        )
        try requireServed(user, at: moment)
        var grant = open(request.login(of: user, openedBy: .authorizationCode, now: moment.now), at: moment)
        grant.nonce = request.nonce
        codes.spend(code, login: grant.tokens.login.id)
        return grant
    }

    private mutating func exchange(
        _ form: Form,
        _ client: OAuthClient,
        at moment: Moment
    ) throws(TokenRefusal) -> OAuthGrant {
        let settings = moment.settings.oauth
        let token = try form.require("subject_token")
        let type = try form.require("subject_token_type")
        let request = try OAuthRequest(form, client: client.id, on: settings)
        guard let user = proofs.redeem(token, kind: type, now: moment.now), isServed(user, at: moment) else {
            throw settings.badSubjectToken.because("the subject token is unknown, expired, spent or of another type")
        }
        return open(request.login(of: user, openedBy: .exchange, now: moment.now), at: moment)
    }

    private mutating func refresh(
        _ form: Form,
        _ client: OAuthClient,
        at moment: Moment
    ) throws(TokenRefusal) -> OAuthGrant {
        let settings = moment.settings.oauth
        let token = try form.require("refresh_token")
        let login = logins.login(ofRefreshToken: token, at: .oauth)
        if let login {
            try requireServed(login.userId, at: moment)
            if login.clientId == client.id, login.current == TokenText.fingerprint(token) {
                try narrow(login, by: form)
            }
        }
        let refreshed: Logins.Refresh =
            login?.clientId == client.id
            ? logins.refresh(token, at: .oauth, on: moment.settings.oauthTerms, now: moment.now) : .ended
        let tokens: IssuedTokens
        switch refreshed {
        case .granted(let granted): tokens = granted
        case .reused:
            let ending = settings.reuseRevokes ? "; its family is revoked" : ""
            throw TokenError.invalidGrant.because(
                "the refresh token was replaced before\(ending)",
                endsLogin: settings.reuseRevokes
            )
        case .ended:
            throw TokenError.invalidGrant.because("the refresh token is unknown, ended or another client's")
        }
        let subject: String? =
            switch settings.refreshIdToken {
            case .absent: nil
            case .same: tokens.login.userId
            case .other: "somebody-else"
            }
        return OAuthGrant(tokens: tokens, idTokenSubject: tokens.login.scopes.contains("openid") ? subject : nil)
    }

    /// Opens a login with the tokens that the settings allow.
    mutating func open(_ login: Login, at moment: Moment) -> OAuthGrant {
        let settings = moment.settings.oauth
        let isExchange = login.openedBy == .exchange
        let tokens = logins.open(
            login,
            withRefreshToken: settings.allowsRefresh(login.scopes) && (!isExchange || settings.exchangeRefreshToken),
            on: moment.settings.oauthTerms,
            now: moment.now
        )
        let tellsWho = isExchange ? settings.exchangeIdToken : settings.signInIdToken
        let hasIdToken = tellsWho && login.scopes.contains("openid")
        return OAuthGrant(tokens: tokens, idTokenSubject: hasIdToken ? login.userId : nil)
    }

    /// Restricts a login to the scopes and resources of a refresh request. By RFC 6749 §6 this affects only one access
    /// token, but some servers apply it to the whole login.
    private mutating func narrow(_ login: Login, by form: Form) throws(TokenRefusal) {
        var login = login
        if let scopes = form.scopes {
            guard Set(scopes).isSubset(of: login.scopes) else {
                throw TokenError.invalidScope.because("the scope is more than this login has")
            }
            login.scopes = scopes
            login.narrowedBy = login.narrowedBy.filter { $0 != "scope" } + ["scope"]
        }
        let resources = form.all("resource")
        if !resources.isEmpty {
            login.resources = resources
            login.narrowedBy = login.narrowedBy.filter { $0 != "resource" } + ["resource"]
        }
        logins[login.id] = login
    }
}

extension CloudState {
    private func isServed(_ id: String, at moment: Moment) -> Bool {
        guard let user = users[.oauth, id] else { return false }
        let settings = moment.settings.oauth
        return (!user.isDisabled || settings.disabledRenews) && (!user.isDeleted || settings.deletedRenews)
    }

    private func requireServed(_ id: String, at moment: Moment) throws(TokenRefusal) {
        guard isServed(id, at: moment) else {
            throw TokenError.invalidGrant.because("the user was disabled or deleted")
        }
    }

    /// Returns the user and the login of an access token if token, login and user are valid.
    func oauthCaller(_ accessToken: String, at moment: Moment) -> (user: User, login: Login)? {
        guard let login = logins.login(ofAccessToken: accessToken, at: .oauth, now: moment.now),
            isServed(login.userId, at: moment), let user = users[.oauth, login.userId]
        else { return nil }
        return (user, login)
    }

    /// Returns the user who signs in under this name on a page. Creates the user if the name is new.
    mutating func signIn(_ named: String, now: Date) throws(TokenRefusal) -> User {
        guard !named.isEmpty else { throw TokenError.accessDenied.because("say who signs in") }
        let new = User(vendor: .oauth, userId: TokenText.identifier(), name: named, createdAt: now)
        let user = users.find(named, at: .oauth) ?? new
        guard user.isActive else { throw TokenError.accessDenied.because("'\(named)' was disabled or deleted") }
        users[.oauth, user.userId] = user
        return user
    }
}
