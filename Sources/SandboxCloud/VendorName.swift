/// A vendor, by the name that the daemon's configuration has for it.
package enum VendorName: String, CaseIterable, Codable, Sendable {
    case junction
    case social
    case sinch
    case oauth

    /// The vendor's part of the `/sandbox` endpoints; Junction is the one that has no name there.
    var drivingPath: String { self == .junction ? "sandbox" : "sandbox/\(rawValue)" }

    /// What a log shows a token to be.
    var accessTokenPrefix: String {
        switch self {
        case .junction: "at_"
        case .social: "spt_"
        case .sinch: "sinch_"
        case .oauth: "oat_"
        }
    }

    var refreshTokenPrefix: String { self == .oauth ? "ort_" : "rt_" }
}
