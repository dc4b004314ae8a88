/// A wearable manufacturer that a user can connect.
struct Provider: Sendable {
    let slug: String

    static let all = ["oura", "fitbit", "garmin", "withings"].map { Provider(slug: $0) }

    var view: [String: JSONValue] {
        [
            "name": .string(slug.prefix(1).uppercased() + slug.dropFirst()), "slug": .string(slug),
            "logo": .string("https://logo.invalid/\(slug).png"), "auth_type": "oauth",
        ]
    }
}
