package import JunctionProviders
import JunctionSession
package import Logging

/// Every setting of the daemon. The initial value of each property is the default.
package struct Configuration: Equatable, Sendable {
    package var provider = ProviderName.allCases[0]
    /// The settings of all providers, by the provider's name and then by key.
    package var providerValues = Self.usualProviderSettings
    package var tls = TLS()
    package var network = Network()
    package var renewal = Renewal()
    package var api = API()
    package var limits = Limits()
    /// The access rights; the first matching entry decides. If the list is empty, the socket's group may do everything
    /// but `manage`.
    package var access: [AccessEntry] = []
    package var log = Log()

    package init() {}

    /// Who renews: the configured mode, or the provider's default.
    package var renewalMode: RenewalMode {
        renewal.mode ?? (provider.definition.renewsByItself ? .automatic : .handler)
    }

    private static var usualProviderSettings: [String: [String: ProviderSetting.Value]] {
        let usual = ProviderName.allCases.map { name in
            let settings = name.definition.settings.compactMap { setting in setting.usually.map { (setting.key, $0) } }
            return (name.rawValue, Dictionary(uniqueKeysWithValues: settings))
        }
        return Dictionary(uniqueKeysWithValues: usual)
    }
}

extension Configuration {
    package struct TLS: Equatable, Sendable {
        /// Certificate authorities (PEM) to trust in addition to those of the system.
        package var caFile: String?
    }

    package struct Network: Equatable, Sendable {
        /// If absent, the environment decides; see `networkSettings`.
        package var proxy: ProxyAddress?
        /// The hosts to reach without the proxy. If absent, the environment decides.
        package var noProxy: [String]?
        package var resolveTimeout = Duration.seconds(10)
        package var connectTimeout = Duration.seconds(10)
        /// The limit of a whole request to a token endpoint. For an API call, the limit of the time without progress.
        package var requestTimeout = Duration.seconds(10)
        /// The client certificate (PEM), for servers that ask for one.
        package var clientCertificateFile: String?
        /// The key of the client certificate (PEM). If absent, the service manager's credential `network.clientKey`.
        package var clientKeyFile: String?
    }

    package enum RenewalMode: String, Sendable, CaseIterable {
        /// The daemon renews with the session's own secrets.
        case automatic
        /// The daemon asks a session handler at each renewal.
        case handler
    }

    package struct Renewal: Equatable, Sendable {
        /// If absent, the provider's default applies; see `renewalMode`.
        package var mode: RenewalMode?
        /// How long one session handler may take to answer.
        package var handlerTimeout = Duration.seconds(60)
        /// How long the daemon asks no session handler after none had a token.
        package var postponeFor = RenewalPolicy.shortestPostponement
    }

    package struct API: Equatable, Sendable {
        /// Whether apps may call the provider's API. Otherwise `api.request` gets `permissionDenied`.
        package var expose = true
        /// The path of the HTTP socket. If absent, the daemon serves HTTP only if the service manager passes a socket
        /// for it.
        package var socket: String?
    }

    /// The limits of one calling user id, at the same time or in a minute.
    package struct Limits: Equatable, Sendable {
        package var connections = 512
        package var inFlight = 1_024
        /// The limit for API calls, and the limit for calls of the session (sign-ins, renewals), each counted
        /// separately. Only calls that reach the network count. If absent, the defaults below apply.
        package var providerCallsPerMinute: Int?

        /// The default is twelve pages a minute with a hundred calls each, or one call every 50 ms. An app that shows
        /// pages needs less, and a program that calls in an endless loop exceeds it at once.
        package var apiCallsPerMinute: Int { providerCallsPerMinute ?? 1_200 }
        /// The default is low, because each call may guess a credential or rotate a token.
        package var sessionCallsPerMinute: Int { providerCallsPerMinute ?? 60 }
    }

    package struct Log: Equatable, Sendable {
        package var level = Logger.Level.info
    }
}
