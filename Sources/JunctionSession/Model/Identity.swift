/// Who is signed in: the user as the provider names them.
///
/// A user of an environment and region is one of Junction's: UUIDs and words, which are kept in lower case, so that two
/// spellings of one user compare equal. Every other vendor's user id is the app's own, and `Anna` is not `anna`. A user of
/// an issuer is the `sub` that this issuer gave (OpenID Connect Core §2): both exactly as written.
package struct Identity: Hashable, Sendable {
    package let userId: String
    package let teamId: String?
    package let environment: String?
    package let region: String?
    package let issuer: String?

    package init(
        userId: String,
        teamId: String? = nil,
        environment: String? = nil,
        region: String? = nil,
        issuer: String? = nil
    ) {
        let isOfSite = environment != nil || region != nil
        self.issuer = issuer
        self.userId = isOfSite ? userId.lowercased() : userId
        self.teamId = teamId?.lowercased()
        self.environment = environment?.lowercased()
        self.region = region?.lowercased()
    }

    /// Whether a text is this user's id, as this user's vendor compares ids.
    package func isCalled(_ name: String) -> Bool {
        isWritten(Identity(userId: name, environment: environment, region: region, issuer: issuer).userId)
    }

    /// Whether both name one user: user id, issuer, team, environment and region; an API key names no team, so a team
    /// that one side does not know is not compared.
    package func isSameUser(as other: Identity) -> Bool {
        guard Self.isSame(userId, other.userId), Self.isSame(environment, other.environment),
            Self.isSame(region, other.region), Self.isSame(issuer, other.issuer)
        else { return false }
        guard let teamId, let otherTeam = other.teamId else { return true }
        return teamId.hasSameBytes(as: otherTeam)
    }

    private func isWritten(_ id: String) -> Bool { Self.isSame(userId, id) }

    package static func == (one: Identity, other: Identity) -> Bool {
        isSame(one.userId, other.userId) && isSame(one.teamId, other.teamId)
            && isSame(one.environment, other.environment) && isSame(one.region, other.region)
            && isSame(one.issuer, other.issuer)
    }

    private static func isSame(_ one: String?, _ other: String?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.hasSameBytes(as: other)
    }
}

extension StringProtocol {
    /// Whether both are written with the same bytes. To `==`, `é` in one code point and in two are the same text; to a vendor
    /// they are two ids.
    package func hasSameBytes(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }
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
    case device
    case authorizationCode
    case refreshToken
    case tokenExchange
}

/// What the session has to know of a scheme; its vendor states it.
package struct SchemeTraits: Hashable, Sendable {
    /// A session of this scheme is renewed with a refresh token of its own, so that a request whose answer was lost can be
    /// made once more.
    package var renewsByRefreshToken: Bool
    /// Such a session is renewed without anything that an app's server would have to give.
    package var renewsAlone: Bool
    /// Signing in costs a request to the provider.
    package var reachesProvider: Bool
    /// The provider's demand for a new credential may pass: it has one word for everything, and a user who was disabled may be
    /// enabled again. Whoever asks for a renewal then has it tried with what the session has; nothing is tried by itself.
    package var demandMayPass: Bool
    /// A sign-out is proved by what outlives the access token: there is something to revoke when that is dead.
    package var proofOutlivesToken: Bool
    /// The provider may forget such a session without ending it. The daemon asks about once an hour, and registers anew.
    package var mayBeForgotten: Bool

    package init(
        renewsByRefreshToken: Bool = false,
        renewsAlone: Bool = false,
        reachesProvider: Bool = true,
        demandMayPass: Bool = false,
        proofOutlivesToken: Bool = false,
        mayBeForgotten: Bool = false
    ) {
        self.renewsByRefreshToken = renewsByRefreshToken
        self.renewsAlone = renewsAlone
        self.reachesProvider = reachesProvider
        self.demandMayPass = demandMayPass
        self.proofOutlivesToken = proofOutlivesToken
        self.mayBeForgotten = mayBeForgotten
    }
}
