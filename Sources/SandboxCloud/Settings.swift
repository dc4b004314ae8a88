import FoundationEssentials

/// The settings of the sandbox. A restart resets them.
package struct Settings: Sendable {
    /// The settings that apply to every vendor.
    package var general = GeneralSettings()
    var social = SocialSettings()
    var sinch = SinchSettings()
    var oauth = OAuthSettings()

    /// The allowed durations in seconds, up to a year.
    package static let durations = 0.0...31_536_000

    package init() {}
}

/// The settings that a start option or `POST /sandbox/settings` can change.
package struct GeneralSettings: SettingsGroup {
    /// The lifetime of an access token in seconds. Without it, the vendor's default applies.
    package var accessTokenLifetime: Double?
    /// How long a replaced refresh token stays usable, in seconds.
    package var rotationGrace = 30.0
    /// Whether a Sign-In Token can be exchanged only once.
    var singleUseSignInTokens = true

    var durations: [Double] { [accessTokenLifetime ?? 0, rotationGrace] }
}

/// A group of settings that one endpoint shows and changes.
protocol SettingsGroup: Codable, Sendable {
    /// The values of the settings that are durations in seconds.
    var durations: [Double] { get }
    /// The HTTP status of errors, if the group has such a setting.
    var errorStatus: Int? { get }
}

extension SettingsGroup {
    var durations: [Double] { [] }
    var errorStatus: Int? { nil }

    /// Returns the settings with some of them changed. `null` resets a setting to its value in `initial`.
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
