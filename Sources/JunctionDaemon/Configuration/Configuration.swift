package import JunctionProviders

/// Every setting of the daemon. What stands beside a member here is its default.
package struct Configuration: Equatable, Sendable {
    /// Whose cloud the user signs in to.
    package var provider = VendorName.allCases[0]
    /// The settings of all vendors: by the vendor's name, and then by key.
    package var vendors = Self.usualVendorSettings
    package var tls = TLS()
    package var network = Network()
    package var renewal = Renewal()
    package var api = API()
    package var limits = Limits()
    /// Who may do what, the first matching entry deciding. Empty: the socket's group may do all but `manage`.
    package var access: [AccessEntry] = []
    package var log = Log()

    package init() {}

    /// Who renews, after the provider's own default.
    package var renewalMode: RenewalMode {
        renewal.mode ?? (provider.vendor.renewsByItself ? .automatic : .handler)
    }

    private static var usualVendorSettings: [String: [String: VendorSetting.Value]] {
        let usual = VendorName.allCases.map { name in
            let settings = name.vendor.settings.compactMap { setting in setting.usually.map { (setting.key, $0) } }
            return (name.rawValue, Dictionary(uniqueKeysWithValues: settings))
        }
        return Dictionary(uniqueKeysWithValues: usual)
    }
}

extension Configuration {
    package struct TLS: Equatable, Sendable {
        /// Certificate authorities to trust beside those of the system (PEM).
        package var caFile: String?
    }

    /// How the network is used.
    package struct Network: Equatable, Sendable {
        /// Absent: what the environment says; see `networkUse`.
        package var proxy: ProxyAddress?
        /// What is reached without the proxy. Absent: what the environment says.
        package var noProxy: [String]?
        package var resolveTimeout = Duration.seconds(10)
        package var connectTimeout = Duration.seconds(10)
        /// For token endpoints altogether; for API calls until something moves.
        package var requestTimeout = Duration.seconds(10)
        /// Our own certificate (PEM), for servers that ask for one.
        package var clientCertificateFile: String?
        /// Its key (PEM). Absent: the service manager's credential `network.clientKey`.
        package var clientKeyFile: String?
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
        /// Where to serve HTTP. Absent: nowhere, unless the service manager passes a socket for it.
        package var socket: String?
    }

    /// What one calling user id may use at once, or in a minute.
    package struct Limits: Equatable, Sendable {
        package var connections = 512
        package var inFlight = 1_024
        /// For API calls and for calls of the session (sign-ins, renewals), which are counted apart. Only what reaches the
        /// network is counted. Absent: what no app meets.
        package var providerCallsPerMinute: Int?

        /// Twelve pages a minute with a hundred calls each, or one call every 50 ms without a pause: what an app that shows pages
        /// never needs, and a program that calls in an endless loop passes at once.
        package var apiCallsPerMinute: Int { providerCallsPerMinute ?? 1_200 }
        /// Each may be a guess at a credential, or rotate a token.
        package var sessionCallsPerMinute: Int { providerCallsPerMinute ?? 60 }
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
