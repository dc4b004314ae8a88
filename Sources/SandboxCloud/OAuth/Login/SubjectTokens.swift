import FoundationEssentials

/// The tokens that a test exchanges for a login (RFC 8693), as an application's own backend would have made them.
struct SubjectTokens: Codable, Sendable {
    private struct Subject: Codable {
        let sub: String
        let type: String
        let expiresAt: Date
        let isSingleUse: Bool
    }

    static let usualType = "urn:ietf:params:oauth:token-type:jwt"

    /// By the fingerprint of the token.
    private var subjects: [String: Subject] = [:]

    mutating func mint(for sub: String, type: String, isSingleUse: Bool, expiresAt: Date) -> String {
        let token = TokenText.fresh("ost_")
        subjects[TokenText.fingerprint(token)] = Subject(
            sub: sub,
            type: type,
            expiresAt: expiresAt,
            isSingleUse: isSingleUse
        )
        return token
    }

    /// Whom a token speaks for, if it is good; one for single use is spent.
    mutating func redeem(_ token: String, type: String, now: Date) -> String? {
        let shown = TokenText.fingerprint(token)
        guard let subject = subjects[shown], subject.type == type, now < subject.expiresAt else { return nil }
        if subject.isSingleUse { subjects[shown] = nil }
        return subject.sub
    }
}
