import Hummingbird

/// The stand-in for Junction: its auth server and its API at one origin.
struct JunctionCloud: Vendor {
    let ledger: Ledger
    let counters: Counters
    let preferences: Preferences
    let mint: SignInTokenMint
    let scheme: String

    init(ledger: Ledger, counters: Counters, preferences: Preferences, scheme: String) throws {
        self.ledger = ledger
        self.counters = counters
        self.preferences = preferences
        self.scheme = scheme
        mint = try SignInTokenMint()
    }

    let tokenEndpoints: Set<String> = ["POST /v1/token"]

    func addRoutes(to router: Router<CloudContext>) {
        addTokenRoutes(to: router)
        addUserRoutes(to: router)
        addLinkRoutes(to: router)
        addDataRoutes(to: router)
        addDrivingRoutes(to: router)
    }

    /// How the client of a request spells this cloud.
    func origin(for request: Request) -> String {
        "\(scheme)://\(request.head.authority ?? "127.0.0.1")"
    }
}
