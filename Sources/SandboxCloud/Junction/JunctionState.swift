import FoundationEssentials

/// What the Junction part of the cloud remembers.
struct JunctionState: Codable, Sendable {
    var users = UserDirectory()
    var families = TokenFamilies()
    var linkCodes = LinkCodes()
    /// Fingerprints of the Sign-In Tokens that were exchanged.
    var spentSignInTokens: Set<String> = []
}

extension JunctionState {
    /// Deletes a user: every sign-in ends at once, and the provider connections with it.
    mutating func delete(_ id: String, now: Date) {
        users[id]?.standing = .deleted
        users[id]?.providers = []
        families.endAll(of: id, because: .deleted, now: now)
        families.dropAccessTokens(of: id, now: now)
    }

    /// Brings a deleted user back; it has to sign in anew.
    mutating func undelete(_ id: String) {
        if users[id]?.standing == .deleted { users[id]?.standing = .active }
    }
}
