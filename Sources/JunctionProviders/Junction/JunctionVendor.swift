package import JunctionSession

/// Junction: users whose tokens the daemon renews.
package struct JunctionVendor: Vendor {
    package static let name = "junction"
    package static let renewsByItself = true
    package static let settings = [
        // Each instead of the host that the token's environment and region name.
        VendorSetting("authUrl", .url), VendorSetting("apiUrl", .url),
        // A team API key is for evaluation in the sandbox: whoever has it can act for every user.
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
