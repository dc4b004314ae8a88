/// Junction's environment in which a team exists.
enum JunctionEnvironment: String, Codable, Sendable, CaseIterable {
    case production
    case sandbox
    case dev

    /// The abbreviation in the issuer of a Sign-In Token.
    var abbreviation: String {
        switch self {
        case .production: "prd"
        case .sandbox: "stg"
        case .dev: "dev"
        }
    }
}

enum JunctionRegion: String, Codable, Sendable, CaseIterable {
    case us
    case eu
}

/// A customer of Junction. A caller that has the team's API key acts for the team.
///
/// Every API key with a known prefix is its own team, which exists on first use. Its ids are derived from the key, so
/// that the same key is the same team after a restart.
struct Team: Codable, Hashable, Sendable {
    let id: String
    let tenant: String
    let publicKey: String
    let environment: JunctionEnvironment
    let region: JunctionRegion

    /// The API key that the quick start and the documentation use.
    static let exampleKey = "sk_us_sandbox"

    static let example = Team(apiKey: exampleKey)!

    init?(apiKey: String) {
        guard let (_, environment, region) = Self.prefixes.first(where: { apiKey.hasPrefix($0.prefix) }) else {
            return nil
        }
        let seed = TokenText.fingerprint("junction-sandbox team \(apiKey)")
        let digits = Array(seed)
        id = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
        tenant = "t-" + String(digits[32..<50]) + "-" + String(digits[50..<56])
        publicKey = "sandbox-public-" + String(digits[56...])
        self.environment = environment
        self.region = region
    }

    /// The four characters at the start of a link code of this team.
    var linkCodePrefix: String {
        (environment == .production ? "pk" : "sk") + region.rawValue
    }

    private static let prefixes: [(prefix: String, environment: JunctionEnvironment, region: JunctionRegion)] = [
        ("pk_us_", .production, .us),
        ("pk_eu_", .production, .eu),
        ("sk_us_", .sandbox, .us),
        ("sk_eu_", .sandbox, .eu),
    ]
}
