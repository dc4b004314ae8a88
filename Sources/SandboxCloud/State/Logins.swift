import FoundationEssentials

/// The logins of all vendors, and their tokens.
///
/// A login has at most one current refresh token. `TokenTerms` define whether a refresh replaces it, and whether the
/// use of a replaced token ends the login. A successor is computed from the used token and a secret. So
/// `Rotation.grace` can return the same pair again although the state contains only fingerprints.
struct Logins: Codable, Sendable {
    private struct AccessToken: Codable {
        let login: String
        var expiresAt: Date
    }

    private var logins: [String: Login] = [:]
    /// By fingerprint, including the tokens of all earlier generations.
    private var loginOfRefreshToken: [String: String] = [:]
    private var accessTokens: [String: AccessToken] = [:]
    /// Generated once and stored with the state, so that a replay after a restart returns the same pair.
    private var secret = TokenText.fresh("")

    subscript(id: String) -> Login? {
        get { logins[id] }
        set { logins[id] = newValue }
    }

    /// Returns the logins of a vendor, the oldest first.
    func all(of vendor: VendorName) -> [Login] {
        logins.values.filter { $0.vendor == vendor }.sorted { ($0.openedAt, $0.id) < ($1.openedAt, $1.id) }
    }

    /// Returns the active login of a user on a device.
    func login(at vendor: VendorName, of user: String, on device: String, now: Date) -> Login? {
        logins.values.first {
            $0.vendor == vendor && $0.userId == user && $0.deviceId == device && !$0.isOver(now)
        }
    }

    /// Returns the login of a refresh token, whether or not the token is still valid.
    func login(ofRefreshToken token: String, at vendor: VendorName) -> Login? {
        loginOfRefreshToken[TokenText.fingerprint(token)].flatMap { logins[$0] }.flatMap {
            $0.vendor == vendor ? $0 : nil
        }
    }

    func login(ofAccessToken token: String, at vendor: VendorName, now: Date) -> Login? {
        guard let known = accessTokens[TokenText.fingerprint(token)], now < known.expiresAt,
            let login = logins[known.login], login.vendor == vendor
        else { return nil }
        return login
    }

    func accessTokenEnds(now: Date) -> [String: [Date]] {
        Dictionary(grouping: accessTokens.values.filter { now < $0.expiresAt }, by: \.login)
            .mapValues { $0.map(\.expiresAt) }
    }
}

// Opening and refreshing.
extension Logins {
    enum Refresh: Sendable {
        case granted(IssuedTokens)
        /// The token was replaced and its grace has ended. The login ends too if `TokenTerms.reuseRevokes` is set.
        case reused
        /// The login had ended before, or the token is unknown.
        case ended
    }

    mutating func open(_ login: Login, withRefreshToken: Bool = false, on terms: TokenTerms, now: Date) -> IssuedTokens
    {
        var login = login
        let refreshToken = withRefreshToken ? TokenText.fresh(login.vendor.refreshTokenPrefix) : nil
        login.current = refreshToken.map(TokenText.fingerprint)
        login.story.add(.opened, at: now, issued: login.current)
        return issue(TokenText.fresh(login.vendor.accessTokenPrefix), refreshToken, login, on: terms, now: now)
    }

    /// Issues another access token for a login without a refresh token.
    mutating func renew(_ login: Login, on terms: TokenTerms, now: Date) -> IssuedTokens {
        var login = login
        login.refreshes += 1
        login.story.add(.renewed, at: now)
        return issue(TokenText.fresh(login.vendor.accessTokenPrefix), nil, login, on: terms, now: now)
    }

    /// Issues the next tokens, or repeats the last ones.
    mutating func refresh(_ token: String, at vendor: VendorName, on terms: TokenTerms, now: Date) -> Refresh {
        let shown = TokenText.fingerprint(token)
        guard var login = login(ofRefreshToken: token, at: vendor) else { return .ended }
        guard login.ending == nil else {
            logins[login.id]?.story.add(.refused, at: now, shown: shown)
            return .ended
        }
        guard shown == login.current else {
            guard let deadline = login.replaced[shown], now < deadline else {
                if terms.reuseRevokes {
                    end(login.id, because: .reused, shown: shown, now: now)
                } else {
                    logins[login.id]?.story.add(.refused, at: now, shown: shown)
                }
                return .reused
            }
            return .granted(replay(token, of: login, until: deadline, on: terms, now: now))
        }

        login.refreshes += 1
        let next = successors(of: token, in: login)
        guard terms.rotation != .none, terms.rotation != .same else {
            login.replaced = [:]
            login.story.add(.renewed, at: now, shown: shown)
            return .granted(
                issue(next.access, terms.rotation == .same ? token : nil, login, on: terms, now: now)
            )
        }
        let deadline = terms.rotation == .single ? now : now + terms.grace
        login.replaced = [shown: deadline]
        login.current = TokenText.fingerprint(next.refresh)
        login.story.add(
            .rotated,
            at: now,
            shown: shown,
            issued: login.current,
            graceEndsAt: terms.rotation == .single ? nil : deadline
        )
        return .granted(issue(next.access, next.refresh, login, on: terms, now: now))
    }

    private mutating func replay(
        _ token: String,
        of login: Login,
        until deadline: Date,
        on terms: TokenTerms,
        now: Date
    ) -> IssuedTokens {
        var login = login
        login.replays += 1
        if terms.rotation == .reissue {
            login.refreshes += 1
            login.replaced[login.current ?? ""] = deadline
        }
        let next = successors(of: token, in: login)
        login.current = TokenText.fingerprint(next.refresh)
        login.story.add(
            .replayed,
            at: now,
            shown: TokenText.fingerprint(token),
            issued: login.current,
            graceEndsAt: deadline
        )
        var tokens = issue(next.access, next.refresh, login, on: terms, now: now)
        tokens.isReplay = true
        return tokens
    }

    private func successors(of token: String, in login: Login) -> (access: String, refresh: String) {
        let label = { (kind: String) in "\(secret) \(kind) \(login.refreshes)" }
        return (
            TokenText.derived(login.vendor.accessTokenPrefix, from: token, with: label("access")),
            TokenText.derived(login.vendor.refreshTokenPrefix, from: token, with: label("refresh"))
        )
    }

    private mutating func issue(
        _ accessToken: String,
        _ refreshToken: String?,
        _ login: Login,
        on terms: TokenTerms,
        now: Date
    ) -> IssuedTokens {
        accessTokens = accessTokens.filter { now < $0.value.expiresAt }
        let token = AccessToken(login: login.id, expiresAt: now + terms.lifetime)
        accessTokens[TokenText.fingerprint(accessToken)] = token
        logins[login.id] = login
        if let current = login.current { loginOfRefreshToken[current] = login.id }
        return IssuedTokens(
            accessToken: accessToken,
            refreshToken: refreshToken,
            lifetime: terms.lifetime,
            login: login
        )
    }
}

// Ending.
extension Logins {
    /// Ends a login and forgets its access tokens.
    mutating func end(_ id: String, because kind: LoginEvents.Kind, shown: String? = nil, now: Date) {
        guard logins[id]?.ending == nil else { return }
        logins[id]?.story.add(kind, at: now, shown: shown)
        logins[id]?.ending = kind
        accessTokens = accessTokens.filter { $0.value.login != id }
    }

    /// Ends all logins of a user. Access tokens of a login with a refresh token stay valid; `dropAccessTokens` ends them.
    mutating func endAll(of user: User, because kind: LoginEvents.Kind, now: Date) {
        note(kind, of: user, now: now)
        for login in all(of: user) where login.ending == nil {
            if login.current == nil {
                accessTokens = accessTokens.filter { $0.value.login != login.id }
            }
            logins[login.id]?.ending = kind
        }
    }

    /// Forgets one access token; the login goes on.
    mutating func drop(accessToken: String) {
        accessTokens[TokenText.fingerprint(accessToken)] = nil
    }

    mutating func dropAccessTokens(of user: User, now: Date) {
        note(.accessTokensRevoked, of: user, now: now)
        let ended = Set(all(of: user).map(\.id))
        accessTokens = accessTokens.filter { !ended.contains($0.value.login) }
    }

    mutating func expireAccessTokens(of user: User, now: Date) {
        note(.accessTokensExpired, of: user, now: now)
        let ended = Set(all(of: user).map(\.id))
        for (fingerprint, token) in accessTokens where ended.contains(token.login) {
            accessTokens[fingerprint]?.expiresAt = min(token.expiresAt, now)
        }
    }

    private func all(of user: User) -> [Login] {
        logins.values.filter { $0.vendor == user.vendor && $0.userId == user.userId }
    }

    /// Adds an event to all active logins of a user.
    private mutating func note(_ kind: LoginEvents.Kind, of user: User, now: Date) {
        for login in all(of: user) where login.ending == nil { logins[login.id]?.story.add(kind, at: now) }
    }
}

// Queries.
extension Logins {
    /// The kind of a token text.
    enum Standing: String, Codable, Sendable {
        case unknown
        case accessToken
        case expiredAccessToken
        case refreshToken
        /// The token before the current one, whether or not its grace has ended.
        case replacedRefreshToken
        case olderRefreshToken
        case endedRefreshToken
    }

    func standing(of token: String, at vendor: VendorName, now: Date) -> (standing: Standing, login: Login?) {
        let fingerprint = TokenText.fingerprint(token)
        if let known = accessTokens[fingerprint], let login = logins[known.login], login.vendor == vendor {
            return (now < known.expiresAt ? .accessToken : .expiredAccessToken, login)
        }
        guard let login = login(ofRefreshToken: token, at: vendor) else { return (.unknown, nil) }
        let standing: Standing =
            if login.ending != nil {
                .endedRefreshToken
            } else if login.current == fingerprint {
                .refreshToken
            } else if login.replaced[fingerprint] != nil {
                .replacedRefreshToken
            } else {
                .olderRefreshToken
            }
        return (standing, login)
    }
}
