import JunctionSecret
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
    /// Without an API key no user can sign in.
    private let apiKey: SharedSecret?

    package init(_ settings: ProviderSettings) throws(ProviderConfigurationFault) {
        let region = settings["region"].flatMap(SocialCloud.Region.init) ?? .eu
        cloud = try SocialCloud(region: region, apiUrl: settings["apiUrl"])
        apiKey = try settings.secret("apiKeyFile", orCredential: Self.apiKeyCredential)
        // The key becomes the value of a header, where a line break would begin another header.
        guard apiKey.map(BearerToken.fitsHeader) ?? true else {
            throw ProviderConfigurationFault(
                "social.apiKeyFile: an API key has printable ASCII characters only, without spaces or line breaks"
            )
        }
    }

    package func provider(in context: ProviderContext) -> any IdentityProvider {
        SocialProvider(
            cloud: cloud,
            apiKey: apiKey,
            device: SocialDevice(id: context.installation, version: context.version),
            http: context.http,
            clock: context.clock,
            memory: context.memory
        )
    }
}
