/// Who is signed in: the user as the provider names them.
///
/// All members are kept in lower case, so that two spellings of one user compare equal.
package struct Identity: Hashable, Sendable {
    package var userId: String
    package var teamId: String?
    package var environment: String?
    package var region: String?

    package init(userId: String, teamId: String? = nil, environment: String? = nil, region: String? = nil) {
        self.userId = userId.lowercased()
        self.teamId = teamId?.lowercased()
        self.environment = environment?.lowercased()
        self.region = region?.lowercased()
    }

    /// Whether both name one user: user id, team, environment and region; an API key names no team, so a team
    /// that one side does not know is not compared.
    package func isSameUser(as other: Identity) -> Bool {
        guard userId == other.userId, environment == other.environment, region == other.region else { return false }
        guard let teamId, let otherTeam = other.teamId else { return true }
        return teamId == otherTeam
    }
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
