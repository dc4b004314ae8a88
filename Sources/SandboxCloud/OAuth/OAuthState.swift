import FoundationEssentials

/// What the OAuth part of the cloud remembers. Of tokens and codes it keeps fingerprints, but for the user codes.
struct OAuthState: Codable, Sendable {
    var terms = OAuthTerms()
    var users = OAuthUsers()
    var clients = OAuthClients()
    var families = OAuthFamilies()
    var devices = DeviceGrants()
    var codes = AuthorizationCodes()
    var subjectTokens = SubjectTokens()
}

extension OAuthState {
    /// Whether the logins of a user go on.
    func isServed(_ subject: String) -> Bool {
        guard let user = users[subject] else { return false }
        return (!user.isDisabled || terms.disabledRenews) && (!user.isDeleted || terms.deletedRenews)
    }

    /// A login by its access token, while token, login and user are good.
    func caller(_ accessToken: String, now: Date) -> (user: OAuthUser, family: OAuthFamilies.Family)? {
        guard let family = families.family(ofAccessToken: accessToken, now: now), isServed(family.subject),
            let user = users[family.subject]
        else { return nil }
        return (user, family)
    }

    /// Deletes a user, and all logins with it.
    mutating func delete(_ subject: String, now: Date) {
        users[subject]?.isDeleted = true
        guard !terms.deletedRenews else { return }
        families.endAll(of: subject, because: .deletion, now: now)
        families.dropAccessTokens(of: subject, now: now)
    }
}
