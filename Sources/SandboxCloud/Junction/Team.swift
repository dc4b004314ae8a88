/// Which of Junction's installations a team lives in.
enum JunctionEnvironment: String, Codable, Sendable, CaseIterable {
    case production
    case sandbox
    case dev

    /// The three letters by which a Sign-In Token's issuer names it.
    var abbreviation: String {
        switch self {
        case .production: "prd"
        case .sandbox: "stg"
        case .dev: "dev"
        }
    }
}

/// Where a team's data is kept.
enum JunctionRegion: String, Codable, Sendable, CaseIterable {
    case us
    case eu
}

/// A customer of Junction; whoever holds its API key acts for it.
///
/// Any key with a known prefix is a team of its own, which exists as soon as it is named: its ids are derived from
/// the key, so the same key is the same team after a restart.
struct Team: Codable, Hashable, Sendable {
    let id: String
    let tenant: String
    let publicKey: String
    let environment: JunctionEnvironment
    let region: JunctionRegion

    /// The key that the quick start and the documentation use.
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

    /// The four characters that begin a link code of this team.
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
