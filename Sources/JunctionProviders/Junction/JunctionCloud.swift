/// Junction's hosts: two for each environment and region, or those that the configuration names.
package struct JunctionCloud: Sendable {
    let authOverride: HTTPOrigin?
    let apiOverride: HTTPOrigin?

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
