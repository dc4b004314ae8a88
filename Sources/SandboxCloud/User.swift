import FoundationEssentials

/// A user of one vendor. The `/sandbox` endpoints show it as it is.
struct User: Codable, Sendable {
    let vendor: VendorName
    /// What clients know the user by; `Anna` is not `anna`.
    let userId: String
    /// What people call the user: Junction's `client_user_id`, the display name of social.plus.
    var name: String
    let createdAt: Date
    /// Banned, as social.plus calls it.
    var isDisabled = false
    /// Deleted, and to be brought back.
    var isDeleted = false
    var junction: JunctionProfile?

    var isActive: Bool { !isDisabled && !isDeleted }
}

/// The users of all vendors, the deleted ones included.
struct Users: Codable, Sendable {
    private var users: [String: User] = [:]

    subscript(vendor: VendorName, id: String) -> User? {
        get { users[Self.key(vendor, id)] }
        set { users[Self.key(vendor, id)] = newValue }
    }

    /// The users of a vendor, the newest last.
    func all(of vendor: VendorName) -> [User] {
        users.values.filter { $0.vendor == vendor }.sorted { ($0.createdAt, $0.userId) < ($1.createdAt, $1.userId) }
    }

    /// The user of this id, or else of this name.
    func find(_ text: String, at vendor: VendorName) -> User? {
        self[vendor, text] ?? all(of: vendor).first { $0.name == text }
    }

    /// Who is known to a team of Junction's under its own name for them. A deleted user keeps that name, as it may come back.
    func user(named name: String, in team: Team?) -> User? {
        all(of: .junction).first { $0.name == name && $0.junction?.team.id == team?.id }
    }

    /// Adds a user, unless somebody else could be mistaken for that one.
    ///
    /// - Returns: whether the user was added.
    mutating func add(_ user: User) -> Bool {
        let namesake =
            user.vendor == .junction
            ? self.user(named: user.name, in: user.junction?.team) : find(user.name, at: user.vendor)
        guard namesake == nil, find(user.userId, at: user.vendor) == nil else { return false }
        self[user.vendor, user.userId] = user
        return true
    }

    private static func key(_ vendor: VendorName, _ id: String) -> String {
        "\(vendor.rawValue) \(vendor == .junction ? id.lowercased() : id)"
    }
}
