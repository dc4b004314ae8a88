/// Junction's hosts: two for each environment and region, or those that the configuration names.
package struct JunctionCloud: Sendable {
    private let authOverride: HTTPOrigin?
    private let apiOverride: HTTPOrigin?

    /// Parses the overrides of the configuration.
    package init(authUrl: String? = nil, apiUrl: String? = nil) throws(ProviderConfigurationFault) {
        self.authOverride = try Self.origin("authUrl", authUrl)
        self.apiOverride = try Self.origin("apiUrl", apiUrl)
    }

    /// Returns the host that exchanges and renews tokens.
    package func auth(_ site: JunctionSite) -> HTTPOrigin {
        authOverride ?? HTTPOrigin(host: "auth.\(site.hostSuffix)")
    }

    /// Returns the host of the API.
    package func api(_ site: JunctionSite) -> HTTPOrigin {
        apiOverride ?? HTTPOrigin(host: "api.\(site.hostSuffix)")
    }

    /// The overrides, which are known without a site.
    var overrides: (auth: HTTPOrigin?, api: HTTPOrigin?) { (authOverride, apiOverride) }

    private static func origin(
        _ key: String,
        _ url: String?
    ) throws(ProviderConfigurationFault) -> HTTPOrigin? {
        guard let url else { return nil }
        return try ProviderConfigurationFault.naming("junction.\(key)", HTTPOrigin(url))
    }
}

extension JunctionSite {
    fileprivate var hostSuffix: String {
        switch environment {
        case .production: "\(region.rawValue).junction.com"
        case .sandbox: "sandbox.\(region.rawValue).junction.com"
        case .dev: "dev.\(region.rawValue).junction.com"
        }
    }
}
