import FoundationEssentials

/// The access token and refresh token that one call to the token endpoint hands out.
struct IssuedTokens: Equatable, Sendable {
    let accessToken: String
    let refreshToken: String
    let lifetime: Double
}

/// Every sign-in's chain of refresh tokens, and the access tokens that came out of it.
///
/// A sign-in opens a family; each refresh replaces the family's one current refresh token. The replaced token may be
/// used again for a while, because an answer may have been lost on the way: such a replay gets a fresh pair and the
/// unheard-of successor is replaced in turn, with the same deadline. As soon as a successor is used, everything older
/// is over, and a token that is over ends the whole family: two parties hold it, and one of them stole it.
struct TokenFamilies: Codable, Sendable {
    /// What became of a refresh token that was shown.
    enum Rotation: Equatable {
        case rotated(IssuedTokens)
        /// The same, for a replaced token within its grace.
        case replayed(IssuedTokens)
        /// A token that was over: the family ended with it.
        case reused
        /// The family had ended before.
        case ended
    }

    /// How long what is handed out now will be good.
    struct Terms: Sendable {
        let accessTokenLifetime: Double
        let grace: Double
    }

    private struct Family: Codable {
        let user: String
        var current: String
        /// Replaced refresh tokens, and until when each may be replayed.
        var replaced: [String: Date] = [:]
        var ended = false
        var story = LoginStory()
    }

    private struct AccessToken: Codable {
        let user: String
        let family: String
        var expiresAt: Date
    }

    /// Only fingerprints are kept, here and in the state file.
    private var families: [String: Family] = [:]
    private var familyOfRefreshToken: [String: String] = [:]
    private var accessTokens: [String: AccessToken] = [:]

    /// How long Junction's access tokens live.
    static let usualLifetime = 3600.0

    /// Opens a family for a user who has just signed in.
    mutating func open(for user: String, on terms: Terms, now: Date) -> IssuedTokens {
        let name = TokenText.identifier()
        let tokens = issue(for: user, of: name, on: terms, now: now)
        var family = Family(user: user, current: TokenText.fingerprint(tokens.refreshToken))
        family.story.add(.opened, at: now, issued: family.current)
        families[name] = family
        return tokens
    }

    /// Whose refresh token this is, whatever became of it.
    func owner(ofRefreshToken token: String) -> String? {
        familyOfRefreshToken[TokenText.fingerprint(token)].flatMap { families[$0]?.user }
    }

    /// Replaces a refresh token by the next one. The token must be one whose owner is known.
    mutating func rotate(_ token: String, on terms: Terms, now: Date) -> Rotation {
        let shown = TokenText.fingerprint(token)
        guard let name = familyOfRefreshToken[shown], var family = families[name] else { return .ended }
        guard !family.ended else {
            families[name]?.story.add(.refused, at: now, shown: shown)
            return .ended
        }

        let isReplay = shown != family.current
        if isReplay {
            guard let deadline = family.replaced[shown], now < deadline else {
                family.ended = true
                family.story.add(.reused, at: now, shown: shown)
                families[name] = family
                accessTokens = accessTokens.filter { $0.value.family != name }
                return .reused
            }
            family.replaced[family.current] = deadline
        } else {
            for older in family.replaced.keys { family.replaced[older] = .distantPast }
            family.replaced[shown] = now + terms.grace
        }

        let tokens = issue(for: family.user, of: name, on: terms, now: now)
        family.current = TokenText.fingerprint(tokens.refreshToken)
        family.story.add(
            isReplay ? .replayed : .rotated,
            at: now,
            shown: shown,
            issued: family.current,
            graceEndsAt: family.replaced[shown]
        )
        families[name] = family
        return isReplay ? .replayed(tokens) : .rotated(tokens)
    }

    /// Whom an access token speaks for, while it is good.
    func bearer(of accessToken: String, now: Date) -> String? {
        guard let known = accessTokens[TokenText.fingerprint(accessToken)], now < known.expiresAt else { return nil }
        return known.user
    }

    /// Ends all sign-ins of a user. What the access tokens open stays open unless they are dropped too.
    mutating func endAll(of user: String, because kind: LoginStory.Kind, now: Date) {
        note(kind, of: user, now: now)
        for (name, family) in families where family.user == user { families[name]?.ended = true }
    }

    mutating func dropAccessTokens(of user: String, now: Date) {
        note(.accessTokensRevoked, of: user, now: now)
        accessTokens = accessTokens.filter { $0.value.user != user }
    }

    mutating func expireAccessTokens(of user: String, now: Date) {
        note(.accessTokensExpired, of: user, now: now)
        for (fingerprint, token) in accessTokens where token.user == user {
            accessTokens[fingerprint]?.expiresAt = min(token.expiresAt, now)
        }
    }

    /// How many sign-ins of a user are alive.
    func aliveCount(of user: String) -> Int {
        families.values.count { $0.user == user && !$0.ended }
    }

    /// Every sign-in that there was, as the page shows it.
    func logins(named name: (_ user: String) -> String, now: Date) -> [ShownLogin] {
        let good = Dictionary(grouping: accessTokens.values.filter { now < $0.expiresAt }, by: \.family)
        return families.map { id, family in
            ShownLogin(
                id: id,
                user: name(family.user),
                detail: "family \(id.prefix(8))",
                openedAt: family.story.entries.first?.at ?? .distantPast,
                isAlive: !family.ended,
                accessTokens: good[id]?.count ?? 0,
                expiresAt: good[id]?.map(\.expiresAt).max(),
                story: family.story
            )
        }
    }

    /// What befell all sign-ins of a user that were alive.
    private mutating func note(_ kind: LoginStory.Kind, of user: String, now: Date) {
        for (name, family) in families where family.user == user && !family.ended {
            families[name]?.story.add(kind, at: now)
        }
    }

    private mutating func issue(for user: String, of family: String, on terms: Terms, now: Date) -> IssuedTokens {
        accessTokens = accessTokens.filter { now < $0.value.expiresAt }
        let tokens = IssuedTokens(
            accessToken: TokenText.fresh("at_"),
            refreshToken: TokenText.fresh("rt_"),
            lifetime: terms.accessTokenLifetime
        )
        accessTokens[TokenText.fingerprint(tokens.accessToken)] = AccessToken(
            user: user,
            family: family,
            expiresAt: now + terms.accessTokenLifetime
        )
        familyOfRefreshToken[TokenText.fingerprint(tokens.refreshToken)] = family
        return tokens
    }
}
