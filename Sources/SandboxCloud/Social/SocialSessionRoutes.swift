import FoundationEssentials
import Hummingbird

extension SocialCloud {
    /// `/api/v5/sessions` signs in and renews, `/api/v4/sessions` signs out.
    func addSessionRoutes(to router: Router<CloudContext>) {
        router.post("api/v5/sessions") { request, _ in
            do {
                let view = try open(try await request.socialLogin())
                return try Response.json(view)
            } catch let refusal as Refusal {
                counters.count { $0.refusedSession(refusal) }
                throw refusal
            }
        }
        router.delete("api/v4/sessions") { request, _ in
            let token = try request.socialToken()
            try ledger.change { state, now in
                state.social.close(try state.social.caller(token, now: now), now: now)
            }
            counters.count { $0.signOuts += 1 }
            return try Response.json(Done())
        }
    }

    private func open(_ login: SocialLogin) throws -> SocialSessionView {
        let lifetime = preferences.settings.accessTokenLifetime ?? Self.usualLifetime
        let (opened, issuedAt) = try ledger.change { state, now in
            // Times are stated on the clock that the Date header shows, which is never advanced.
            (try state.social.open(login, lifetime: lifetime, now: now), now - state.clockOffset)
        }
        counters.count { $0.openedSession(isRenewal: opened.isRenewal) }
        return SocialSessionView(opened, issuedAt: issuedAt, lifetime: lifetime)
    }
}

extension Tally {
    fileprivate mutating func openedSession(isRenewal: Bool) {
        if isRenewal { refreshes += 1 } else { exchanges += 1 }
        grants["session", default: [:]]["granted", default: 0] += 1
    }

    fileprivate mutating func refusedSession(_ refusal: Refusal) {
        guard case .integer(let code) = refusal.body["code"] else { return }
        grants["session", default: [:]][String(code), default: 0] += 1
    }
}

/// A success of `POST /api/v5/sessions`.
private struct SocialSessionView: Encodable {
    let accessToken: String
    let issuedAt: String
    let expiresAt: String
    let users: [SocialUserView]
    let files: [String] = []

    init(_ opened: SocialState.Opened, issuedAt: Date, lifetime: Double) {
        accessToken = opened.accessToken
        self.issuedAt = issuedAt.inMilliseconds
        expiresAt = (issuedAt + lifetime).inMilliseconds
        users = [SocialUserView(opened.user)]
    }
}
