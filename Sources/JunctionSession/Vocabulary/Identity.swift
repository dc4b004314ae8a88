/// Who is signed in: the user as the provider names them.
///
/// All members are kept in lower case, so that two spellings of one user compare equal.
package struct Identity: Sendable {
    package let userId: String
    /// The user id as the credential spelled it, for vendors to whom `Anna` is not `anna`. It is never compared.
    package let spelling: String
    package var teamId: String?
    package var environment: String?
    package var region: String?

    package init(userId: String, teamId: String? = nil, environment: String? = nil, region: String? = nil) {
        self.userId = userId.lowercased()
        self.spelling = userId
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

extension Identity: Hashable {
    package static func == (left: Identity, right: Identity) -> Bool {
        left.userId == right.userId && left.teamId == right.teamId && left.environment == right.environment
            && left.region == right.region
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(userId)
        hasher.combine(teamId)
        hasher.combine(environment)
        hasher.combine(region)
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
