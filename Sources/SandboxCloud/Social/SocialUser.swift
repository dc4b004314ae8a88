import FoundationEssentials

/// A user of the application; ids are the application's own, and `Anna` is not `anna`.
struct SocialUser: Codable, Sendable {
    let userId: String
    var displayName: String
    let createdAt: Date
    var isDeleted = false
    var isGlobalBanned = false
}

/// A user as the vendor's endpoints show it.
struct SocialUserView: Encodable {
    let userId: String
    let displayName: String
    let createdAt: String
    let isDeleted: Bool
    let isGlobalBanned: Bool

    init(_ user: SocialUser) {
        userId = user.userId
        displayName = user.displayName
        createdAt = user.createdAt.inMilliseconds
        isDeleted = user.isDeleted
        isGlobalBanned = user.isGlobalBanned
    }
}

/// The list in which the vendor answers about users, also about one.
struct SocialUsersView: Encodable {
    let users: [SocialUserView]
    let files: [String] = []

    init(_ user: SocialUser) {
        users = [SocialUserView(user)]
    }
}

extension Date {
    /// The time as the vendor writes it: `2023-01-12T12:02:28.592Z`.
    var inMilliseconds: String {
        formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
