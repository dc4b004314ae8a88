import FoundationEssentials

/// Somebody who can sign in.
struct OAuthUser: Codable, Sendable {
    /// What clients know the user by; it means nothing.
    let sub: String
    let name: String
    let createdAt: Date
    var isDisabled = false
    var isDeleted = false
}

/// All users, by their `sub`.
struct OAuthUsers: Codable, Sendable {
    private var users: [String: OAuthUser] = [:]

    var all: [OAuthUser] {
        users.values.sorted { ($0.createdAt, $0.sub) < ($1.createdAt, $1.sub) }
    }

    subscript(sub: String) -> OAuthUser? {
        get { users[sub] }
        set { users[sub] = newValue }
    }

    /// The user of this `sub`, or else of this name.
    func find(_ text: String) -> OAuthUser? {
        users[text] ?? all.first { $0.name == text }
    }

    /// A new user, whom nobody else may be mistaken for.
    mutating func add(name: String, sub: String? = nil, now: Date) -> OAuthUser? {
        guard find(name) == nil, sub.flatMap(find) == nil else { return nil }
        let user = OAuthUser(sub: sub ?? TokenText.identifier(), name: name, createdAt: now)
        users[user.sub] = user
        return user
    }

    /// Who signs in under this name on a page; a name that nobody has yet becomes a user.
    mutating func signIn(_ text: String, now: Date) throws(OAuthRefusal) -> OAuthUser {
        guard !text.isEmpty, let user = find(text) ?? add(name: text, now: now) else {
            throw OAuthError.accessDenied.because("say who signs in")
        }
        guard !user.isDisabled, !user.isDeleted else {
            throw OAuthError.accessDenied.because("'\(text)' was disabled or deleted")
        }
        return user
    }
}
