import FoundationEssentials
import Hummingbird

extension SocialCloud {
    /// The default lifetime of an access token in seconds: the vendor documents 30 days.
    private static let usualLifetime = 30.0 * 86_400

    /// Adds `/api/v5/sessions`, which signs in and renews, and `/api/v4/sessions`, which signs out.
    func addSessionRoutes(to router: Router<CloudContext>) {
        router.post("api/v5/sessions") { request, _ in
            do {
                return try open(try await request.socialLogin())
            } catch let refusal as Refusal {
                if case .integer(let code) = refusal.body["code"] { store.count { $0.count("session", String(code)) } }
                throw refusal
            }
        }
        router.delete("api/v4/sessions") { request, _ in
            let token = try request.socialToken()
            try store.change { state, moment in
                let login = try state.socialCaller(token, now: moment.now)
                state.logins.end(login.id, because: .signedOut, now: moment.now)
            }
            store.count { $0.signOuts += 1 }
            return try Response.json(Done())
        }
    }

    private func open(_ wanted: SocialLogin) throws -> Response {
        let (tokens, user, moment) = try store.change { state, moment in
            let general = moment.settings.general
            let terms = TokenTerms(lifetime: general.accessTokenLifetime ?? Self.usualLifetime)
            let (tokens, user) = try state.logInToSocial(wanted, on: terms, at: moment)
            return (tokens, user, moment)
        }
        store.count { tally in
            if tokens.login.refreshes > 0 { tally.refreshes += 1 } else { tally.exchanges += 1 }
            tally.count("session", "granted")
        }
        let issuedAt = moment.stated(moment.now)
        return try .json(
            [
                "accessToken": .string(tokens.accessToken),
                "issuedAt": .string(issuedAt.inMilliseconds),
                "expiresAt": .string((issuedAt + tokens.lifetime).inMilliseconds),
                "users": [user.socialView],
                "files": [],
            ] as JSONValue
        )
    }
}

extension CloudState {
    func socialCaller(_ accessToken: String, now: Date) throws(Refusal) -> Login {
        guard let login = logins.login(ofAccessToken: accessToken, at: .social, now: now),
            let user = users[.social, login.userId], !user.isDeleted
        else { throw SocialRefusal.unauthorized.because("the access token is expired, revoked or unknown") }
        guard !user.isDisabled else { throw SocialRefusal.globallyBanned.because("the user is banned") }
        return login
    }

    /// Opens a session of a user on a device, or renews it. The vendor uses the same call for both. The first login
    /// creates the user.
    fileprivate mutating func logInToSocial(
        _ wanted: SocialLogin,
        on terms: TokenTerms,
        at moment: Moment
    ) throws(Refusal) -> (tokens: IssuedTokens, user: User) {
        let settings = moment.settings.social
        if settings.secureMode { try spend(wanted.authToken, of: wanted.userId, at: moment) }
        var user =
            users[.social, wanted.userId]
            ?? User(vendor: .social, userId: wanted.userId, name: wanted.userId, createdAt: moment.now)
        user.name = wanted.displayName ?? user.name
        if !settings.opensForBanned {
            guard !user.isDisabled else { throw SocialRefusal.globallyBanned.because("the user is banned") }
            guard !user.isDeleted else { throw SocialRefusal.unauthorized.because("the user was deleted") }
        }
        users[.social, wanted.userId] = user

        // A device has one user at a time.
        for other in logins.all(of: .social) where other.deviceId == wanted.deviceId && other.userId != wanted.userId {
            logins.end(other.id, because: .ended, now: moment.now)
        }
        if let login = logins.login(at: .social, of: wanted.userId, on: wanted.deviceId, now: moment.now) {
            return (logins.renew(login, on: terms, now: moment.now), user)
        }
        let login = Login(vendor: .social, userId: user.userId, deviceId: wanted.deviceId, openedAt: moment.now)
        return (logins.open(login, on: terms, now: moment.now), user)
    }

    private mutating func spend(_ authToken: String?, of user: String, at moment: Moment) throws(Refusal) {
        guard let authToken else {
            throw SocialRefusal.unauthorized.because("in secure mode an authToken is needed")
        }
        guard proofs.user(authToken, kind: SocialCloud.authTokenKind, now: moment.now) == user else {
            throw SocialRefusal.unauthorized.because("the authToken is unknown, spent or another user's")
        }
        if moment.settings.social.singleUseAuthTokens { proofs.forget(authToken) }
    }
}
