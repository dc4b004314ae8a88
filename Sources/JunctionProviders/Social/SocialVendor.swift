package import JunctionSession

/// social.plus: users with ids of the app's choosing, whose app has their auth tokens.
package struct SocialVendor: Vendor {
    package static let name = "social"
    package static let renewsByItself = false
    package static let settings = [
        VendorSetting(
            "region",
            .word(SocialCloud.Region.allCases.map(\.rawValue)),
            usually: SocialCloud.Region.eu.rawValue
        ),
        // Instead of the region's host.
        VendorSetting("apiUrl", .url),
        // Unless the service manager passes the key as the credential `social.apiKey`.
        VendorSetting("apiKeyFile", .secretFile(credential: apiKeyCredential)),
    ]

    private static let apiKeyCredential = "social.apiKey"

    private let cloud: SocialCloud
    private let application: SocialApplication

    package init(_ settings: VendorSettings) throws(ProviderConfigurationFault) {
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
            clock: context.clock
        )
    }
}
