/// Who is signed in: the user as the provider names them.
///
/// A user of an environment and region is one of Junction's: UUIDs and words, which are kept in lower case, so that two
/// spellings of one user compare equal. Every other vendor's user id is the app's own, and `Anna` is not `anna`.
package struct Identity: Hashable, Sendable {
    package let userId: String
    package let teamId: String?
    package let environment: String?
    package let region: String?

    package init(userId: String, teamId: String? = nil, environment: String? = nil, region: String? = nil) {
        let isOfSite = environment != nil || region != nil
        self.userId = isOfSite ? userId.lowercased() : userId
        self.teamId = teamId?.lowercased()
        self.environment = environment?.lowercased()
        self.region = region?.lowercased()
    }

    /// Whether a text is this user's id, as this user's vendor compares ids.
    package func isCalled(_ name: String) -> Bool {
        isWritten(Identity(userId: name, environment: environment, region: region).userId)
    }

    /// Whether both name one user: user id, team, environment and region; an API key names no team, so a team
    /// that one side does not know is not compared.
    package func isSameUser(as other: Identity) -> Bool {
        guard isWritten(other.userId), environment == other.environment, region == other.region else { return false }
        guard let teamId, let otherTeam = other.teamId else { return true }
        return teamId == otherTeam
    }

    /// Byte by byte: to a string, `é` is the same in one character and in two.
    private func isWritten(_ id: String) -> Bool { userId.utf8.elementsEqual(id.utf8) }
}

/// How the user came to be signed in; the names are those of the wire.
package enum Scheme: String, Hashable, Sendable, CaseIterable {
    case signInToken
    case linkCode
    case apiKey
    case userLogin
    case registration
    case registrationSignature
    case selfSigned
}
