/// A maker of wearables that a user can connect.
struct Provider: Codable, Sendable {
    let name: String
    let slug: String
    let logo: String
    let authType: String

    static let all = ["oura", "fitbit", "garmin", "withings"].map { Provider(slug: $0) }

    init(slug: String) {
        name = slug.prefix(1).uppercased() + slug.dropFirst()
        self.slug = slug
        logo = "https://logo.invalid/\(slug).png"
        authType = "oauth"
    }
}
