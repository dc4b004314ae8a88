import FoundationEssentials

/// Every login's chain of refresh tokens, and the access tokens that came out of it.
///
/// Successors are computed from the token that was shown and a secret of the server, so that a replay within the grace
/// is answered with the same pair although no token is kept.
struct OAuthFamilies: Codable, Sendable {
    /// What a refresh does to the refresh token.
    enum Rotation: String, Codable, Sendable {
        /// Nothing; the answer has none.
        case none
        /// Nothing; the answer repeats it.
        case same
        /// It is replaced, and over at once.
        case single
        /// It is replaced; until the grace ends or the successor is used, it gets the same pair again.
        case grace
    }

    /// What ended a family.
    enum Ending: String, Codable, Sendable {
        case reuse
        case revocation
        case operation
        case deletion
        case codeReuse
    }

    struct Family: Codable, Sendable {
        let id: String
        let login: OAuthLogin
        let openedAt: Date
        /// What is granted now: a refresh that names less leaves less for good.
        fileprivate(set) var scopes: [String]
        fileprivate(set) var resources: [String]
        /// The parameters by which refreshes narrowed the login.
        fileprivate(set) var narrowedBy: Set<String> = []
        fileprivate(set) var refreshes = 0
        fileprivate(set) var replays = 0
        fileprivate(set) var ending: Ending?
        fileprivate(set) var story = LoginStory()
        fileprivate var current: String?
        fileprivate var replaced: Replaced?

        var subject: String { login.subject }
        var isAlive: Bool { ending == nil && current != nil }
    }

    /// The refresh token before the current one.
    fileprivate struct Replaced: Codable {
        let token: String
        /// Which refresh it was used for.
        let refresh: Int
        let graceEndsAt: Date
    }

    private struct AccessToken: Codable {
        let family: String
        var expiresAt: Date
    }

    private var families: [String: Family] = [:]
    /// By fingerprints, those of all generations included.
    private var familyOfRefreshToken: [String: String] = [:]
    private var accessTokens: [String: AccessToken] = [:]
    /// Drawn once, and kept with the state: a restart answers a replay with the same pair.
    private var secret = TokenText.fresh("")
}

// Opening and refreshing.
extension OAuthFamilies {
    /// A refresh that was granted.
    struct Refreshed: Sendable {
        let tokens: OAuthTokens
        let login: OAuthLogin
        /// It is the same answer as before, to the same token.
        let isReplay: Bool
    }

    /// Opens a family for somebody who has just signed in.
    mutating func open(
        _ login: OAuthLogin,
        withRefreshToken: Bool,
        for lifetimes: OAuthLifetimes,
        now: Date
    ) -> (id: String, tokens: OAuthTokens) {
        let refreshToken = withRefreshToken ? TokenText.fresh("ort_") : nil
        var family = Family(
            id: TokenText.identifier(),
            login: login,
            openedAt: now,
            scopes: login.scopes,
            resources: login.resources,
            current: refreshToken.map(TokenText.fingerprint)
        )
        family.story.add(.opened, at: now, issued: family.current)
        families[family.id] = family
        if let current = family.current { familyOfRefreshToken[current] = family.id }
        let accessToken = TokenText.fresh("oat_")
        admit(accessToken, of: family, for: lifetimes, now: now)
        return (family.id, tokens(accessToken, refreshToken, of: family, for: lifetimes))
    }

    /// Whose refresh token this is, whatever became of it.
    func subject(ofRefreshToken token: String) -> String? {
        family(ofRefreshToken: token)?.subject
    }

    /// Hands out the next pair, or the last one again.
    ///
    /// A refusal may have ended the family: what is thrown does not undo that.
    mutating func refresh(
        _ token: String,
        by client: String,
        narrowing: Narrowing,
        on terms: OAuthTerms,
        for lifetimes: OAuthLifetimes,
        now: Date
    ) throws(OAuthRefusal) -> Refreshed {
        let shown = TokenText.fingerprint(token)
        guard var family = family(ofRefreshToken: token), family.ending == nil, family.login.client == client else {
            if let id = familyOfRefreshToken[shown] { families[id]?.story.add(.refused, at: now, shown: shown) }
            throw OAuthError.invalidGrant.because("the refresh token is unknown, ended or another client's")
        }
        guard shown != family.current else {
            try narrowing.apply(to: &family)
            return Refreshed(
                tokens: next(after: token, of: &family, terms.rotation, for: lifetimes, now: now),
                login: family.login,
                isReplay: false
            )
        }
        if let replaced = family.replaced, replaced.token == shown, now < replaced.graceEndsAt {
            family.replays += 1
            family.story.add(
                .replayed,
                at: now,
                shown: shown,
                issued: family.current,
                graceEndsAt: replaced.graceEndsAt
            )
            families[family.id] = family
            let pair = derived(from: token, refresh: replaced.refresh)
            return Refreshed(
                tokens: tokens(pair.access, pair.refresh, of: family, for: lifetimes),
                login: family.login,
                isReplay: true
            )
        }
        guard terms.reuseRevokes else {
            families[family.id]?.story.add(.refused, at: now, shown: shown)
            throw OAuthError.invalidGrant.because("the refresh token was replaced before")
        }
        families[family.id]?.story.add(.reused, at: now, shown: shown)
        end(family.id, because: .reuse, now: now)
        var refusal = OAuthError.invalidGrant.because("the refresh token was replaced before; its family is revoked")
        refusal.endsFamily = true
        throw refusal
    }

    private mutating func next(
        after token: String,
        of family: inout Family,
        _ rotation: Rotation,
        for lifetimes: OAuthLifetimes,
        now: Date
    ) -> OAuthTokens {
        family.refreshes += 1
        let pair = derived(from: token, refresh: family.refreshes)
        let refreshToken: String?
        switch rotation {
        case .none, .same:
            family.story.add(.renewed, at: now, shown: family.current)
            refreshToken = rotation == .same ? token : nil
        case .single, .grace:
            family.replaced = Replaced(
                token: TokenText.fingerprint(token),
                refresh: family.refreshes,
                graceEndsAt: rotation == .grace ? now + lifetimes.grace : .distantPast
            )
            let successor = TokenText.fingerprint(pair.refresh)
            family.story.add(
                .rotated,
                at: now,
                shown: family.current,
                issued: successor,
                graceEndsAt: rotation == .grace ? family.replaced?.graceEndsAt : nil
            )
            family.current = successor
            familyOfRefreshToken[successor] = family.id
            refreshToken = pair.refresh
        }
        families[family.id] = family
        admit(pair.access, of: family, for: lifetimes, now: now)
        return tokens(pair.access, refreshToken, of: family, for: lifetimes)
    }

    private func derived(from token: String, refresh: Int) -> (access: String, refresh: String) {
        (
            TokenText.derived("oat_", from: token, with: "\(secret) access \(refresh)"),
            TokenText.derived("ort_", from: token, with: "\(secret) refresh \(refresh)")
        )
    }

    private mutating func admit(
        _ accessToken: String,
        of family: Family,
        for lifetimes: OAuthLifetimes,
        now: Date
    ) {
        accessTokens = accessTokens.filter { now < $0.value.expiresAt }
        accessTokens[TokenText.fingerprint(accessToken)] = AccessToken(
            family: family.id,
            expiresAt: now + lifetimes.accessToken
        )
    }

    private func tokens(
        _ accessToken: String,
        _ refreshToken: String?,
        of family: Family,
        for lifetimes: OAuthLifetimes
    ) -> OAuthTokens {
        OAuthTokens(
            accessToken: accessToken,
            refreshToken: refreshToken,
            lifetime: lifetimes.accessToken,
            scopes: family.scopes,
            subject: family.subject
        )
    }
}

// Ending.
extension OAuthFamilies {
    /// Ends a family and forgets its access tokens.
    mutating func end(_ id: String, because ending: Ending, now: Date) {
        guard families[id]?.ending == nil else { return }
        note(ending, of: id, now: now)
        families[id]?.ending = ending
        accessTokens = accessTokens.filter { $0.value.family != id }
    }

    /// Ends all logins of a user. What the access tokens open stays open unless they are dropped too.
    mutating func endAll(of subject: String, because ending: Ending, now: Date) {
        for (id, family) in families where family.subject == subject && family.ending == nil {
            note(ending, of: id, now: now)
            families[id]?.ending = ending
        }
    }

    /// Forgets one access token; the login goes on.
    mutating func drop(accessToken: String) {
        accessTokens[TokenText.fingerprint(accessToken)] = nil
    }

    mutating func dropAccessTokens(of subject: String, now: Date) {
        note(.accessTokensRevoked, ofAll: subject, now: now)
        accessTokens = accessTokens.filter { families[$0.value.family]?.subject != subject }
    }

    mutating func expireAccessTokens(of subject: String, now: Date) {
        note(.accessTokensExpired, ofAll: subject, now: now)
        for (fingerprint, token) in accessTokens where families[token.family]?.subject == subject {
            accessTokens[fingerprint]?.expiresAt = min(token.expiresAt, now)
        }
    }
}

// Telling.
extension OAuthFamilies {
    private mutating func note(_ ending: Ending, of id: String, now: Date) {
        let kind: LoginStory.Kind? =
            switch ending {
            // The token that did it has its entry already.
            case .reuse: nil
            case .revocation: .signedOut
            case .operation: .ended
            case .deletion: .deleted
            case .codeReuse: .codeReused
            }
        if let kind { families[id]?.story.add(kind, at: now) }
    }

    /// What befell all logins of a user that were alive.
    private mutating func note(_ kind: LoginStory.Kind, ofAll subject: String, now: Date) {
        for (id, family) in families where family.subject == subject && family.ending == nil {
            families[id]?.story.add(kind, at: now)
        }
    }

    /// Every login that there was, as the page shows it.
    func logins(named name: (_ subject: String) -> String, now: Date) -> [ShownLogin] {
        let good = Dictionary(grouping: accessTokens.values.filter { now < $0.expiresAt }, by: \.family)
        return families.values.map { family in
            ShownLogin(
                id: family.id,
                user: name(family.subject),
                detail: "\(family.login.client), family \(family.id.prefix(8))",
                openedAt: family.openedAt,
                // One without a refresh token lives as long as its access token.
                isAlive: family.isAlive || (family.ending == nil && good[family.id] != nil),
                accessTokens: good[family.id]?.count ?? 0,
                expiresAt: good[family.id]?.map(\.expiresAt).max(),
                story: family.story
            )
        }
    }
}

// Looking.
extension OAuthFamilies {
    /// What a text is to the server.
    enum Standing: String, Codable, Sendable {
        case unknown
        case accessToken
        case expiredAccessToken
        case refreshToken
        /// The one before the current one, whether or not in its grace.
        case replacedRefreshToken
        case olderRefreshToken
        case endedRefreshToken
    }

    /// All families, the oldest first.
    var all: [Family] { families.values.sorted { ($0.openedAt, $0.id) < ($1.openedAt, $1.id) } }

    func family(ofRefreshToken token: String) -> Family? {
        familyOfRefreshToken[TokenText.fingerprint(token)].flatMap { families[$0] }
    }

    /// The family of an access token that is good.
    func family(ofAccessToken token: String, now: Date) -> Family? {
        guard let known = accessTokens[TokenText.fingerprint(token)], now < known.expiresAt else { return nil }
        return families[known.family]
    }

    /// How many access tokens of a family are good.
    func accessTokenCount(of id: String, now: Date) -> Int {
        accessTokens.values.count { $0.family == id && now < $0.expiresAt }
    }

    func standing(of token: String, now: Date) -> (standing: Standing, family: Family?) {
        let fingerprint = TokenText.fingerprint(token)
        if let known = accessTokens[fingerprint] {
            return (now < known.expiresAt ? .accessToken : .expiredAccessToken, families[known.family])
        }
        guard let family = family(ofRefreshToken: token) else { return (.unknown, nil) }
        let standing: Standing =
            if family.ending != nil {
                .endedRefreshToken
            } else if family.current == fingerprint {
                .refreshToken
            } else if family.replaced?.token == fingerprint {
                .replacedRefreshToken
            } else {
                .olderRefreshToken
            }
        return (standing, family)
    }
}

extension OAuthFamilies {
    /// What a refresh asks less of. RFC 6749 §6 keeps that to the one access token; servers take it for the login.
    struct Narrowing: Sendable {
        let scopes: [String]?
        let resources: [String]

        fileprivate func apply(to family: inout Family) throws(OAuthRefusal) {
            if let scopes {
                guard Set(scopes).isSubset(of: family.scopes) else {
                    throw OAuthError.invalidScope.because("the scope is more than this login has")
                }
                family.scopes = scopes
                family.narrowedBy.insert("scope")
            }
            if !resources.isEmpty {
                family.resources = resources
                family.narrowedBy.insert("resource")
            }
        }
    }
}
