import FoundationEssentials

extension OAuthState {
    /// What the token endpoint grants.
    struct Granted: Sendable {
        let tokens: OAuthTokens
        var isReplay = false
        /// Whom an id_token is about, where one comes along, and what it repeats.
        var idTokenSubject: String?
        var nonce: String?
    }

    /// Carries out a token request of a client that is who it says.
    ///
    /// A refusal may have changed something: a family that ended, a poll that came too soon. So it is to be committed.
    mutating func grant(
        _ grant: GrantType,
        _ form: OAuthForm,
        to client: OAuthClient,
        for lifetimes: OAuthLifetimes,
        now: Date
    ) throws(OAuthRefusal) -> Granted {
        guard !terms.unauthorizedGrants.contains(grant) else {
            throw OAuthError.unauthorizedClient.because("this client may not use \(grant.wireName)")
        }
        return switch grant {
        case .deviceCode: try deviceCode(form, client, for: lifetimes, now: now)
        case .authorizationCode: try authorizationCode(form, client, for: lifetimes, now: now)
        case .refresh: try refresh(form, client, for: lifetimes, now: now)
        case .exchange: try exchange(form, client, for: lifetimes, now: now)
        }
    }

    private mutating func deviceCode(
        _ form: OAuthForm,
        _ client: OAuthClient,
        for lifetimes: OAuthLifetimes,
        now: Date
    ) throws(OAuthRefusal) -> Granted {
        let (wish, subject) = try devices.poll(
            try form.require("device_code"),
            by: client.id,
            verifier: form["code_verifier"],
            tellsExpiry: terms.tellsExpiry,
            now: now
        )
        try requireServed(subject)
        let login = OAuthLogin(
            client: client.id,
            subject: subject,
            openedBy: .deviceCode,
            scopes: wish.scopes,
            resources: wish.resources
        )
        return open(login, for: lifetimes, now: now).granted
    }

    private mutating func authorizationCode(
        _ form: OAuthForm,
        _ client: OAuthClient,
        for lifetimes: OAuthLifetimes,
        now: Date
    ) throws(OAuthRefusal) -> Granted {
        let code = try form.require("code")
        if let family = codes.family(of: code) { families.end(family, because: .codeReuse, now: now) }
        let login = try codes.login(
            code,
            by: client.id,
            redirectUri: form["redirect_uri"],
            verifier: form["code_verifier"],
            now: now
        )
        try requireServed(login.subject)
        let (family, granted) = open(login, for: lifetimes, now: now)
        codes.spend(code, family: family)
        return granted
    }

    private mutating func exchange(
        _ form: OAuthForm,
        _ client: OAuthClient,
        for lifetimes: OAuthLifetimes,
        now: Date
    ) throws(OAuthRefusal) -> Granted {
        let token = try form.require("subject_token")
        let type = try form.require("subject_token_type")
        let scopes = try terms.granted(form.scopes ?? [])
        guard let subject = subjectTokens.redeem(token, type: type, now: now), isServed(subject) else {
            throw terms.badSubjectToken.because("the subject token is unknown, expired, spent or of another type")
        }
        let login = OAuthLogin(
            client: client.id,
            subject: subject,
            openedBy: .exchange,
            scopes: scopes,
            resources: form.all("resource")
        )
        return open(login, for: lifetimes, now: now).granted
    }

    private mutating func refresh(
        _ form: OAuthForm,
        _ client: OAuthClient,
        for lifetimes: OAuthLifetimes,
        now: Date
    ) throws(OAuthRefusal) -> Granted {
        let token = try form.require("refresh_token")
        if let subject = families.subject(ofRefreshToken: token) { try requireServed(subject) }
        let refreshed = try families.refresh(
            token,
            by: client.id,
            narrowing: OAuthFamilies.Narrowing(scopes: form.scopes, resources: form.all("resource")),
            on: terms,
            for: lifetimes,
            now: now
        )
        let subject: String? =
            switch terms.refreshIdToken {
            case .absent: nil
            case .same: refreshed.tokens.subject
            case .other: "somebody-else"
            }
        return Granted(
            tokens: refreshed.tokens,
            isReplay: refreshed.isReplay,
            idTokenSubject: refreshed.tokens.scopes.contains("openid") ? subject : nil
        )
    }

    /// Opens a login, with what the settings say comes with it.
    mutating func open(
        _ login: OAuthLogin,
        for lifetimes: OAuthLifetimes,
        now: Date
    ) -> (family: String, granted: Granted) {
        let isExchange = login.openedBy == .exchange
        let (family, tokens) = families.open(
            login,
            withRefreshToken: terms.allowsRefresh(login.scopes) && (!isExchange || terms.exchangeRefreshToken),
            for: lifetimes,
            now: now
        )
        let tellsWho = login.scopes.contains("openid") && (isExchange ? terms.exchangeIdToken : terms.signInIdToken)
        return (
            family,
            Granted(tokens: tokens, idTokenSubject: tellsWho ? login.subject : nil, nonce: login.nonce)
        )
    }

    private func requireServed(_ subject: String) throws(OAuthRefusal) {
        guard isServed(subject) else {
            throw OAuthError.invalidGrant.because("the user was disabled or deleted")
        }
    }
}
