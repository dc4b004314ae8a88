import FoundationEssentials
import Hummingbird

extension OAuthCloud {
    /// `/sandbox/oauth…`: what an operator, a person or a thief would do, for whoever drives a test.
    func addDrivingRoutes(to router: Router<CloudContext>) {
        router.get("sandbox/oauth/settings") { _, _ in try Response.json(terms) }
        router.post("sandbox/oauth/settings") { request, _ in
            let wishes = try await request.order(OAuthTermsWishes.self)
            return try Response.json(
                try ledger.change { state, _ in
                    state.oauth.terms = try wishes.applied(to: state.oauth.terms)
                    return state.oauth.terms
                }
            )
        }
        addUserDriving(to: router)
        addClientDriving(to: router)
        addDeviceDriving(to: router)
        addFamilyDriving(to: router)
    }
}
