package import JunctionSession

/// The vendor Junction. The daemon renews the tokens of its users.
package struct JunctionVendor: Vendor {
    package static let name = "junction"
    package static let renewsByItself = true
    package static let settings = [
        // Each replaces the host that follows from the environment and region of the token.
        VendorSetting("authUrl", .url), VendorSetting("apiUrl", .url),
        // A team API key is for evaluation in the sandbox, because it gives access to every user.
        VendorSetting("apiKeyInProduction", .flag, usually: "false"),
    ]

    private let cloud: JunctionCloud
    private let takesProductionKeys: Bool

    package init(_ settings: VendorSettings) throws(ProviderConfigurationFault) {
        cloud = try JunctionCloud(authUrl: settings["authUrl"], apiUrl: settings["apiUrl"])
        takesProductionKeys = settings.isSet("apiKeyInProduction")
    }

    package func provider(in context: ProviderContext) -> any IdentityProvider {
        JunctionProvider(
            cloud: cloud,
            http: context.http,
            clock: context.clock,
            takesProductionKeys: takesProductionKeys
        )
    }
}
