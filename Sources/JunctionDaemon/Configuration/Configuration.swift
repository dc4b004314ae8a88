/// Every setting of the daemon. What stands beside a member here is its default.
package struct Configuration: Equatable, Sendable {
    /// Whose cloud the user signs in to.
    package var provider = ProviderName.junction
    package var junction = Junction()
    package var social = Social()
    package var sinch = Sinch()
    package var tls = TLS()
    package var renewal = Renewal()
    package var api = API()
    package var limits = Limits()
    /// Who may do what, the first matching entry deciding. Empty: the socket's group may do all but `manage`.
    package var access: [AccessEntry] = []
    package var log = Log()

    package init() {}

    /// Who renews, after the provider's own default: Junction's tokens renew themselves, the others ask a local app.
    package var renewalMode: RenewalMode {
        renewal.mode ?? (provider == .junction ? .automatic : .handler)
    }
}

extension Configuration {
    package enum ProviderName: String, Sendable, CaseIterable {
        case junction
        case social
        case sinch
    }

    package struct Junction: Equatable, Sendable {
        /// Instead of the host that the token's environment and region name.
        package var authUrl: String?
        /// Instead of the host that the token's environment and region name.
        package var apiUrl: String?
    }

    package struct Social: Equatable, Sendable {
        package enum Region: String, Sendable, CaseIterable {
            case eu
            case sg
            case us
        }

        package var region = Region.eu
        /// Instead of the region's host.
        package var apiUrl: String?
        /// Where the API key is, unless the service manager passes it as the credential `social.apiKey`.
        package var apiKeyFile: String?
    }

    package struct Sinch: Equatable, Sendable {
        package var applicationKey: String?
        package var environmentHost = "ocra.api.sinch.com"
        /// Instead of the environment's host.
        package var registrationUrl: String?
        /// For self-signed registrations, which the vendor itself advises against.
        package var applicationSecretFile: String?
    }

    package struct TLS: Equatable, Sendable {
        /// Certificate authorities to trust beside those of the system (PEM).
        package var caFile: String?
    }

    package enum RenewalMode: String, Sendable, CaseIterable {
        /// The daemon renews with the session's own secrets.
        case automatic
        /// A local app is asked each time.
        case handler
    }

    package struct Renewal: Equatable, Sendable {
        /// Absent: what the provider's default is; see `renewalMode`.
        package var mode: RenewalMode?
        /// How long one app may take to answer.
        package var handlerTimeout = Duration.seconds(60)
        /// How long nobody is asked again after no app had a token.
        package var postponeFor = Configuration.shortestPostponement
    }

    package struct API: Equatable, Sendable {
        /// Whether `api.request` exists.
        package var expose = true
    }

    /// What one calling user id may use at once, or in a minute.
    package struct Limits: Equatable, Sendable {
        package var connections = 512
        package var inFlight = 1_024
        /// Only what reaches the network is counted.
        package var providerCallsPerMinute = 60
    }

    package enum LogLevel: String, Sendable, CaseIterable {
        case trace
        case debug
        case info
        case notice
        case warning
        case error
        case critical
    }

    package struct Log: Equatable, Sendable {
        package var level = LogLevel.info
    }

    /// The vendor's rule: no app is asked again sooner than this.
    static let shortestPostponement = Duration.seconds(600)
}
