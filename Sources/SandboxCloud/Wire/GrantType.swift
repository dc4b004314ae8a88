/// A grant type of OAuth 2.0, with the short name that faults and counters use.
enum GrantType: String, Codable, Sendable, CaseIterable {
    case exchange
    case refresh = "refresh_token"
    case deviceCode = "device_code"
    case authorizationCode = "authorization_code"

    init?(_ form: Form) {
        guard let grant = Self.allCases.first(where: { $0.wireName == form["grant_type"] }) else { return nil }
        self = grant
    }

    /// The value of `grant_type`.
    var wireName: String {
        switch self {
        case .exchange: "urn:ietf:params:oauth:grant-type:token-exchange"
        case .deviceCode: "urn:ietf:params:oauth:grant-type:device_code"
        case .refresh, .authorizationCode: rawValue
        }
    }
}
