package import JunctionSession

/// The provider social.plus. The app chooses the user ids and has their auth tokens.
package struct SocialDefinition: ProviderDefinition {
    package static let name = "social"
    package static let renewsByItself = false
    package static let settings = [
        ProviderSetting(
            "region",
            .word(SocialCloud.Region.allCases.map(\.rawValue)),
            usually: SocialCloud.Region.eu.rawValue
        ),
        // Replaces the region's host.
        ProviderSetting("apiUrl", .url),
        // The service manager's credential `social.apiKey` can replace the file.
        ProviderSetting("apiKeyFile", .secretFile(credential: apiKeyCredential)),
    ]

    private static let apiKeyCredential = "social.apiKey"

    private let cloud: SocialCloud
    private let application: SocialApplication

    package init(_ settings: ProviderSettings) throws(ProviderConfigurationFault) {
        let region = settings["region"].flatMap(SocialCloud.Region.init) ?? .eu
        cloud = try SocialCloud(region: region, apiUrl: settings["apiUrl"])
        let apiKey = try settings.secret("apiKeyFile", orCredential: Self.apiKeyCredential)
        application = try SocialApplication(apiKey: apiKey)
    }

    package func provider(in context: ProviderContext) -> any IdentityProvider {
        SocialProvider(
            cloud: cloud,
            application: application,
            device: SocialDevice(id: context.installation, version: context.version),
            http: context.http,
            clock: context.clock,
            memory: context.memory
        )
    }
}
