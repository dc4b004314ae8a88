import Hummingbird

/// The stand-in for social.plus: sessions, auth tokens and just enough of the users.
struct SocialCloud: Vendor {
    let ledger: Ledger
    let counters: Counters
    let preferences: Preferences

    /// What the vendor documents: 30 days.
    static let usualLifetime = 30.0 * 86_400

    let tokenEndpoints: Set<String> = ["POST /api/v5/sessions"]

    func addRoutes(to router: Router<CloudContext>) {
        addSessionRoutes(to: router)
        addServerRoutes(to: router)
        addUserRoutes(to: router)
        addDrivingRoutes(to: router)
    }

    private func addUserRoutes(to router: Router<CloudContext>) {
        router.get("api/v3/users/{user}") { request, context in
            let id = try context.socialUserId()
            let token = try request.socialToken()
            return try ledger.read { state, now in
                _ = try state.social.caller(token, now: now)
                guard let user = state.social[id] else { throw SocialRefusal.notFound.because("there is no such user") }
                return try Response.json(SocialUsersView(user))
            }
        }
    }
}

extension CloudContext {
    /// The user that a path names; ids may hold characters that a path cannot.
    func socialUserId() throws -> String {
        PercentText.plain(try parameters.require("user"))
    }
}
