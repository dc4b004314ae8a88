import FoundationEssentials

/// What the sandbox can be told to be like. A restart forgets it.
package struct Settings: Sendable {
    /// What is in force at every vendor.
    package var general = GeneralSettings()
    var social = SocialSettings()
    var sinch = SinchSettings()
    var oauth = OAuthSettings()

    /// What a duration may be, in seconds: up to a year.
    package static let durations = 0.0...31_536_000

    /// The vendors' usual terms.
    package init() {}
}

/// What can be set at start by an option, and later by `POST /sandbox/settings`.
package struct GeneralSettings: SettingsGroup {
    /// How long an access token lives, in seconds; without it, as long as the vendor's usually do.
    package var accessTokenLifetime: Double?
    /// How long a replaced refresh token may be used again, in seconds.
    package var rotationGrace = 30.0
    /// Whether a Sign-In Token is good for one exchange only.
    var singleUseSignInTokens = true

    var durations: [Double] { [accessTokenLifetime ?? 0, rotationGrace] }
}

/// Settings that one endpoint shows and changes.
protocol SettingsGroup: Codable, Sendable {
    /// Those of the settings that are a number of seconds.
    var durations: [Double] { get }
    /// The status of errors, where it can be set.
    var errorStatus: Int? { get }
}

extension SettingsGroup {
    var durations: [Double] { [] }
    var errorStatus: Int? { nil }

    /// The settings with some of them changed; `null` puts one back to what it is in `initial`.
    func changed(by order: [String: JSONValue], from initial: Self) throws -> Self {
        var members = try JSONValue(encoding: self).members
        let usual = try JSONValue(encoding: initial).members
        for (name, value) in order { members[name] = value == .null ? usual[name] : value }
        let changed: Self
        do {
            changed = try JSONDecoder().decode(Self.self, from: JSONValue.object(members).text())
        } catch let error as DecodingError {
            throw Refusal.order("this cannot be set: \(error.complaint)")
        }
        try order.requireMembers(of: changed)
        guard changed.durations.allSatisfy(Settings.durations.contains) else {
            throw Refusal.order("durations are seconds from 0 to \(Int(Settings.durations.upperBound))")
        }
        guard (200...599).contains(changed.errorStatus ?? 400) else {
            throw Refusal.order("errorStatus is a status from 200 to 599")
        }
        return changed
    }
}
