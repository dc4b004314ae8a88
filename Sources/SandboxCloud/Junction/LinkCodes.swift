import FoundationEssentials

/// The twelve-character codes by which a device without a keyboard to speak of is enrolled.
struct LinkCodes: Codable, Sendable {
    struct Code: Codable, Sendable {
        let user: String
        let expiresAt: Date
    }

    static let lifetime = 3600.0

    private var unused: [String: Code] = [:]

    mutating func create(for user: User, expiresAt: Date) -> String {
        let code = user.team.linkCodePrefix + TokenText.fresh("").prefix(8)
        unused[code] = Code(user: user.id, expiresAt: expiresAt)
        return code
    }

    /// The user whom an unused code enrols; it is used from now on.
    mutating func redeem(_ code: String, now: Date) -> String? {
        guard let known = unused.removeValue(forKey: code.lowercased()), now < known.expiresAt else { return nil }
        return known.user
    }
}
