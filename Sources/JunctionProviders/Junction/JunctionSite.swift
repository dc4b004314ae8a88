import JunctionSession

/// One of Junction's six installations: an environment in a region, with its own users and keys.
package struct JunctionSite: Hashable, Sendable {
    package enum Environment: String, Sendable, CaseIterable {
        case production
        case sandbox
        case dev

        /// Parses both spellings of Junction: the word, and the abbreviation in `iss`.
        init?(spelled text: some StringProtocol) {
            switch text {
            case "production", "prd": self = .production
            case "sandbox", "stg": self = .sandbox
            case "dev": self = .dev
            default: return nil
            }
        }
    }

    package enum Region: String, Sendable, CaseIterable {
        case us
        case eu
    }

    package var environment: Environment
    package var region: Region

    package init(_ environment: Environment, _ region: Region) {
        self.environment = environment
        self.region = region
    }

    /// Makes the site of a signed-in user; `nil` if the identity is not one of Junction's.
    init?(of identity: Identity) {
        guard let environment = identity.environment.flatMap(Environment.init(rawValue:)),
            let region = identity.region.flatMap(Region.init(rawValue:))
        else { return nil }
        self.init(environment, region)
    }

    func identity(userId: String, teamId: String? = nil) -> Identity {
        Identity(userId: userId, teamId: teamId, environment: environment.rawValue, region: region.rawValue)
    }
}
