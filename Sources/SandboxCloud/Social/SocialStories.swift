import FoundationEssentials

/// What happened to the sessions of each user on each device. The vendor's calls for signing in and renewing are the
/// same, and so are the sessions: each token is one.
struct SocialStories: Codable, Sendable {
    struct Device: Codable, Sendable {
        let user: String
        let device: String
        var story = LoginStory()
    }

    /// The oldest first.
    private(set) var all: [Device] = []

    mutating func add(_ kind: LoginStory.Kind, to session: SocialState.Session, now: Date) {
        let index = all.firstIndex { $0.user == session.user && $0.device == session.device } ?? all.count
        if index == all.count { all.append(Device(user: session.user, device: session.device)) }
        all[index].story.add(kind, at: now)
    }
}

extension KeyedDecodingContainer {
    /// As with the stories of other vendors.
    func decode(_ type: SocialStories.Type, forKey key: Key) throws -> SocialStories {
        try decodeIfPresent(type, forKey: key) ?? SocialStories()
    }
}
