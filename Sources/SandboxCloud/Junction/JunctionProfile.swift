import FoundationEssentials

/// The data that only Junction stores about a user.
struct JunctionProfile: Codable, Sendable {
    let team: Team
    var fallbackTimeZone: String?
    /// The wearable manufacturers that the user has connected.
    var providers = ["oura"]
}

extension User {
    var providers: [String] { junction?.providers ?? [] }

    var junctionView: [String: JSONValue] {
        let since = JSONValue.string(createdAt.ISO8601Format())
        var view: [String: JSONValue] = [
            "user_id": .string(userId), "team_id": JSONValue(junction?.team.id), "client_user_id": .string(name),
            "created_on": since,
            "connected_sources": .array(
                providers.map { ["source": .object(Provider(slug: $0).view), "created_on": since] }
            ),
        ]
        if let zone = junction?.fallbackTimeZone {
            view["fallback_time_zone"] = ["id": .string(zone), "source_slug": "manual", "updated_at": since]
        }
        return view
    }
}
