import FoundationEssentials

/// A user of one vendor. The `/sandbox` endpoints show it as it is.
struct User: Codable, Sendable {
    let vendor: VendorName
    /// The id, which is case-sensitive.
    let userId: String
    /// The name: Junction's `client_user_id`, or the display name of social.plus.
    var name: String
    let createdAt: Date
    /// Called *banned* by social.plus.
    var isDisabled = false
    /// Whether the user is deleted. The deletion can be undone.
    var isDeleted = false
    var junction: JunctionProfile?

    var isActive: Bool { !isDisabled && !isDeleted }
}

/// The users of all vendors, including the deleted ones.
struct Users: Codable, Sendable {
    private var users: [String: User] = [:]

    subscript(vendor: VendorName, id: String) -> User? {
        get { users[Self.key(vendor, id)] }
        set { users[Self.key(vendor, id)] = newValue }
    }

    /// Returns the users of a vendor, the oldest first.
    func all(of vendor: VendorName) -> [User] {
        users.values.filter { $0.vendor == vendor }.sorted { ($0.createdAt, $0.userId) < ($1.createdAt, $1.userId) }
    }

    /// Returns the user with this id, or else with this name.
    func find(_ text: String, at vendor: VendorName) -> User? {
        self[vendor, text] ?? all(of: vendor).first { $0.name == text }
    }

    /// Returns the user whom a Junction team knows by this name. A deleted user keeps the name, because the deletion
    /// can be undone.
    func user(named name: String, in team: Team?) -> User? {
        all(of: .junction).first { $0.name == name && $0.junction?.team.id == team?.id }
    }

    /// Adds a user unless another user has the same id or name.
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
