import FoundationEssentials

/// What the social.plus part of the cloud remembers.
struct SocialState: Codable, Sendable {
    struct Session: Codable, Sendable {
        let user: String
        let device: String
        var expiresAt: Date
    }

    private(set) var users: [String: SocialUser] = [:]
    /// By the fingerprint of the access token.
    private var sessions: [String: Session] = [:]
    /// Whose auth token it is, by its fingerprint.
    private var authTokens: [String: String] = [:]
    private var stories = SocialStories()
    var terms = SocialTerms()

    subscript(userId: String) -> SocialUser? {
        get { users[userId] }
        set { users[userId] = newValue }
    }

    /// Who calls with this access token, while it is good.
    func caller(_ accessToken: String, now: Date) throws(Refusal) -> Session {
        guard let session = sessions[TokenText.fingerprint(accessToken)], now < session.expiresAt,
            let user = users[session.user], !user.isDeleted
        else { throw SocialRefusal.unauthorized.because("the access token is expired, revoked or unknown") }
        guard !user.isGlobalBanned else { throw SocialRefusal.globallyBanned.because("the user is banned") }
        return session
    }

    /// How many access tokens of a user are good.
    func aliveCount(of user: String, now: Date) -> Int {
        sessions.values.count { $0.user == user && now < $0.expiresAt }
    }
}

// Signing in and out.
extension SocialState {
    /// An access token on its way to the client.
    struct Opened: Sendable {
        let accessToken: String
        let user: SocialUser
        /// The device had a session of this user already: the vendor's call for signing in and renewing is the same.
        let isRenewal: Bool
    }

    /// Opens a session of a user on a device; the user comes into being with the first one.
    mutating func open(_ login: SocialLogin, lifetime: Double, now: Date) throws(Refusal) -> Opened {
        if terms.secureMode { try spend(login.authToken, of: login.userId) }
        var user = users[login.userId] ?? SocialUser(userId: login.userId, displayName: login.userId, createdAt: now)
        user.displayName = login.displayName ?? user.displayName
        if !terms.opensForBanned {
            guard !user.isGlobalBanned else { throw SocialRefusal.globallyBanned.because("the user is banned") }
            guard !user.isDeleted else { throw SocialRefusal.unauthorized.because("the user was deleted") }
        }
        users[login.userId] = user

        let isRenewal = sessions.values.contains { $0.user == login.userId && $0.device == login.deviceId }
        // A device is for one user at a time.
        for (_, other) in sessions where other.device == login.deviceId && other.user != login.userId {
            stories.add(.ended, to: other, now: now)
        }
        sessions = sessions.filter { $0.value.device != login.deviceId || $0.value.user == login.userId }
        let token = TokenText.fresh("spt_")
        let session = Session(user: login.userId, device: login.deviceId, expiresAt: now + lifetime)
        sessions[TokenText.fingerprint(token)] = session
        stories.add(isRenewal ? .renewed : .opened, to: session, now: now)
        return Opened(accessToken: token, user: user, isRenewal: isRenewal)
    }

    /// Ends what the caller's user has on the caller's device.
    mutating func close(_ session: Session, now: Date) {
        stories.add(.signedOut, to: session, now: now)
        sessions = sessions.filter { $0.value.user != session.user || $0.value.device != session.device }
    }

    /// Makes a token by which the application's server vouches for a user.
    mutating func vouch(for user: String) -> String {
        let token = TokenText.fresh("sat_")
        authTokens[TokenText.fingerprint(token)] = user
        return token
    }

    mutating func expireAccessTokens(of user: String, now: Date) {
        note(.accessTokensExpired, of: user, now: now)
        for (fingerprint, session) in sessions where session.user == user {
            sessions[fingerprint]?.expiresAt = min(session.expiresAt, now)
        }
    }

    mutating func dropAccessTokens(of user: String, now: Date) {
        note(.accessTokensRevoked, of: user, now: now)
        sessions = sessions.filter { $0.value.user != user }
    }

    /// What befell the sessions of a user, one a device.
    private mutating func note(_ kind: LoginStory.Kind, of user: String, now: Date) {
        let devices = Dictionary(sessions.values.filter { $0.user == user }.map { ($0.device, $0) }) { one, _ in one }
        for session in devices.values { stories.add(kind, to: session, now: now) }
    }

    private mutating func spend(_ authToken: String?, of user: String) throws(Refusal) {
        guard let authToken else {
            throw SocialRefusal.unauthorized.because("in secure mode an authToken is needed")
        }
        let fingerprint = TokenText.fingerprint(authToken)
        guard authTokens[fingerprint] == user else {
            throw SocialRefusal.unauthorized.because("the authToken is unknown, spent or another user's")
        }
        if terms.singleUseAuthTokens { authTokens[fingerprint] = nil }
    }
}

// Telling.
extension SocialState {
    /// The sessions that there were, one for each device and user, as the page shows them.
    func logins(now: Date) -> [ShownLogin] {
        stories.all.map { device in
            let good = sessions.values.filter {
                $0.user == device.user && $0.device == device.device && now < $0.expiresAt
            }
            return ShownLogin(
                id: "\(device.device) \(device.user)",
                user: users[device.user]?.displayName ?? device.user,
                detail: "device \(device.device)",
                openedAt: device.story.entries.first?.at ?? .distantPast,
                isAlive: !good.isEmpty,
                accessTokens: good.count,
                expiresAt: good.map(\.expiresAt).max(),
                story: device.story
            )
        }
    }
}

/// What can be chosen about social.plus, by `POST /sandbox/social/settings`.
struct SocialTerms: Codable, Sendable {
    /// Whether a login needs an auth token of the application's server.
    var secureMode = false
    /// Whether an auth token is good for one login only.
    var singleUseAuthTokens = false
    /// Whether banned and deleted users get a session too, whose answer carries the flags, as web clients have seen it.
    var opensForBanned = false
}
