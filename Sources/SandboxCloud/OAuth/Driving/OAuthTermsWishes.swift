import FoundationEssentials

/// Some settings of the OAuth server with their new values; `null` puts one back to what it is at the start.
struct OAuthTermsWishes: Order {
    typealias CodingKeys = OAuthTerms.CodingKeys

    private let members: [String: JSONValue]

    init(from decoder: any Decoder) throws {
        members = try decoder.singleValueContainer().decode([String: JSONValue].self)
    }

    /// The terms with the wishes fulfilled.
    func applied(to terms: OAuthTerms) throws -> OAuthTerms {
        var wanted = try Self.members(of: terms)
        let usual = try Self.members(of: OAuthTerms())
        for (name, value) in members { wanted[name] = value == .null ? usual[name] : value }
        do {
            return try JSONDecoder().decode(OAuthTerms.self, from: JSONValue.object(wanted).text()).checked()
        } catch let error as DecodingError {
            throw Refusal.order("this cannot be set: \(error.complaint)")
        }
    }

    private static func members(of terms: OAuthTerms) throws -> [String: JSONValue] {
        try JSONDecoder().decode([String: JSONValue].self, from: JSONEncoder().encode(terms))
    }
}

extension OAuthTerms {
    /// The terms, unless something in them can never happen.
    fileprivate func checked() throws(Refusal) -> OAuthTerms {
        let durations = Settings.durations
        guard durations.contains(Double(interval)), durations.contains(Double(deviceCodeLifetime)),
            durations.contains(Double(discoveryMaxAge ?? 0))
        else { throw .order("durations are seconds from 0 to \(Int(durations.upperBound))") }
        guard (200...599).contains(errorStatus ?? 400) else { throw .order("errorStatus is a status from 200 to 599") }
        return self
    }
}
