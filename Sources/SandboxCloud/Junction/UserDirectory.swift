import FoundationEssentials

/// All users of all teams, the deleted ones included.
struct UserDirectory: Codable, Sendable {
    private var users: [String: User] = [:]

    /// Everybody, the newest last.
    var everybody: [User] {
        users.values.sorted { ($0.createdOn, $0.id) < ($1.createdOn, $1.id) }
    }

    subscript(id: String) -> User? {
        get { users[id.lowercased()] }
        set { users[id.lowercased()] = newValue }
    }

    /// Who is known to the team under its own name for them. A deleted user keeps that name, as it may come back.
    func user(named clientUserId: String, in team: Team) -> User? {
        users.values.first { $0.clientUserId == clientUserId && $0.team.id == team.id }
    }

    /// Adds a user, or answers `nil` if the team has one of that name.
    mutating func add(
        _ clientUserId: String,
        to team: Team,
        now: Date,
        fallbackTimeZone: String? = nil
    ) -> User? {
        guard user(named: clientUserId, in: team) == nil else { return nil }
        let user = User(
            id: TokenText.identifier(),
            team: team,
            clientUserId: clientUserId,
            createdOn: now,
            fallbackTimeZone: fallbackTimeZone,
            providers: ["oura"]
        )
        users[user.id] = user
        return user
    }
}
