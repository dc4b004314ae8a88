import FoundationEssentials

/// An end user of a team, whose data Junction collects.
struct User: Codable, Sendable {
    enum Standing: String, Codable, Sendable {
        case active
        /// Deleted, and within the days in which `undo_delete` brings the user back.
        case deleted
        case disabled
    }

    let id: String
    let team: Team
    var clientUserId: String
    let createdOn: Date
    var fallbackTimeZone: String?
    var standing = Standing.active
    var providers: [String]
}

/// A user as Junction's API shows it.
struct UserView: Encodable {
    struct Zone: Encodable {
        let id: String
        let sourceSlug = "manual"
        let updatedAt: Date
    }

    struct Source: Encodable {
        let source: Provider
        let createdOn: Date
    }

    let userId: String
    let teamId: String
    let clientUserId: String
    let createdOn: Date
    let connectedSources: [Source]
    let fallbackTimeZone: Zone?

    init(_ user: User) {
        userId = user.id
        teamId = user.team.id
        clientUserId = user.clientUserId
        createdOn = user.createdOn
        connectedSources = user.providers.map { Source(source: Provider(slug: $0), createdOn: user.createdOn) }
        fallbackTimeZone = user.fallbackTimeZone.map { Zone(id: $0, updatedAt: user.createdOn) }
    }
}
