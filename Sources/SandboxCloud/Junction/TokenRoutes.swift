import FoundationEssentials
import Hummingbird

extension JunctionCloud {
    static let signInTokenType = "urn:junction:sign-in-token"

    /// The lifetime of Junction's access tokens, in seconds.
    private static let usualLifetime = 3600.0

    /// Adds `POST /v1/token` of Junction's auth server.
    func addTokenRoutes(to router: Router<CloudContext>) {
        router.post("v1/token") { _, context in
            guard let form = context.form, let grant = GrantType(form), grant == .exchange || grant == .refresh else {
                let complaint = "send a form with grant_type refresh_token or \(GrantType.exchange.wireName)"
                throw Self.answer(TokenError.unsupportedGrantType.because(complaint))
            }
            do {
                let tokens = try grant == .exchange ? exchange(form) : refresh(form)
                store.count { $0.granted(grant, isReplay: tokens.isReplay) }
                return try Response.json(context.tokenAnswer(tokens.members))
            } catch let refusal as TokenRefusal {
                store.count { $0.refused(grant, refusal) }
                throw Self.answer(refusal)
            }
        }
    }

    /// Exchanges a Sign-In Token for the tokens of a new login.
    private func exchange(_ form: Form) throws -> IssuedTokens {
        guard form["subject_token_type"] == Self.signInTokenType else {
            throw TokenError.invalidRequest.because("subject_token_type must be \(Self.signInTokenType)")
        }
        let userToken = try form.require("subject_token")
        guard let claims = mint.read(userToken) else {
            throw TokenError.invalidToken.because(
                "subject_token is not a user_token of this cloud (the inner JWT, not the envelope)"
            )
        }
        return try store.change { state, moment in
            let now = moment.now
            guard now < claims.expiresAt else { throw TokenError.invalidToken.because("the Sign-In Token has expired") }
            guard let user = state.users[.junction, claims.userId], user.isActive,
                user.junction?.team.id == claims.teamId
            else {
                throw TokenError.invalidToken.because(
                    "the user of this Sign-In Token does not exist or was deleted or disabled"
                )
            }
            let isFirst = state.proofs.spend(userToken, until: claims.expiresAt, now: now)
            guard isFirst || !moment.settings.general.singleUseSignInTokens else {
                throw TokenError.invalidToken.because("the Sign-In Token was exchanged before")
            }
            let login = Login(vendor: .junction, userId: user.userId, openedBy: .exchange, openedAt: now)
            return state.logins.open(login, withRefreshToken: true, on: Self.terms(moment), now: now)
        }
    }

    /// Exchanges a refresh token for new tokens.
    private func refresh(_ form: Form) throws -> IssuedTokens {
        let token = try form.require("refresh_token")
        return try store.grant { state, moment throws(TokenRefusal) in
            guard let login = state.logins.login(ofRefreshToken: token, at: .junction) else {
                throw TokenError.reauthenticationRequired.because("the refresh token is unknown")
            }
            guard state.users[.junction, login.userId]?.isActive == true else {
                throw TokenError.invalidToken.because("the user was deleted or disabled")
            }
            switch state.logins.refresh(token, at: .junction, on: Self.terms(moment), now: moment.now) {
            case .granted(let tokens): return tokens
            case .reused:
                throw TokenError.reauthenticationRequired.because(
                    "the refresh token was replaced before; the whole family is revoked",
                    endsLogin: true
                )
            case .ended:
                throw TokenError.reauthenticationRequired.because("this sign-in was ended; sign in again")
            }
        }
    }

    private static func terms(_ moment: Moment) -> TokenTerms {
        let settings = moment.settings.general
        return TokenTerms(lifetime: settings.accessTokenLifetime ?? usualLifetime, grace: settings.rotationGrace)
    }

    private static func answer(_ refusal: TokenRefusal) -> Refusal {
        let isBadRequest = refusal.error == .invalidRequest || refusal.error == .unsupportedGrantType
        let detail: JSONValue = [
            "error_type": .string(refusal.error.rawValue), "message": .string(refusal.description),
        ]
        return Refusal(isBadRequest ? .badRequest : .unauthorized, body: ["detail": detail])
    }
}
