/// The name of a vendor in the daemon's configuration.
package enum VendorName: String, CaseIterable, Codable, Sendable {
    case junction
    case social
    case sinch
    case oauth

    /// The path of the vendor's `/sandbox` endpoints. Junction's path has no name.
    var drivingPath: String { self == .junction ? "sandbox" : "sandbox/\(rawValue)" }

    /// The prefix that identifies an access token of the vendor in a log.
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
