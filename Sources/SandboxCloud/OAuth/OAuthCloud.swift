import FoundationEssentials
import Hummingbird

/// The stand-in for anybody's own identity provider: an OAuth 2.0 and OpenID Connect server, and an API behind it.
struct OAuthCloud: Vendor {
    let ledger: Ledger
    let counters: Counters
    let preferences: Preferences
    let scheme: String
    let mint: IdTokenMint

    init(ledger: Ledger, counters: Counters, preferences: Preferences, scheme: String) throws {
        self.ledger = ledger
        self.counters = counters
        self.preferences = preferences
        self.scheme = scheme
        mint = try IdTokenMint()
    }

    let tokenEndpoints: Set<String> = ["POST /oauth/token"]

    func addRoutes(to router: Router<CloudContext>) {
        addDiscoveryRoutes(to: router)
        addDeviceRoutes(to: router)
        addAuthorizeRoutes(to: router)
        addTokenRoutes(to: router)
        addRevocationRoutes(to: router)
        addResourceRoutes(to: router)
        addDrivingRoutes(to: router)
    }

    /// The issuer, as the client of a request spells it.
    func issuer(for request: Request) -> String {
        "\(scheme)://\(request.head.authority ?? "127.0.0.1")/oauth"
    }

    /// What the server has been told to be like.
    var terms: OAuthTerms { ledger.read { state, _ in state.oauth.terms } }
}
