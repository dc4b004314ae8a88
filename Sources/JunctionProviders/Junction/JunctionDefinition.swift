package import JunctionSession

/// The provider Junction. The daemon renews the tokens of its users.
package struct JunctionDefinition: ProviderDefinition {
    package static let name = "junction"
    package static let renewsByItself = true
    package static let settings = [
        // Each replaces the host that follows from the environment and region of the token.
        ProviderSetting("authUrl", .url), ProviderSetting("apiUrl", .url),
        // A team API key is for evaluation in the sandbox, because it gives access to every user.
        ProviderSetting("apiKeyInProduction", .flag, usually: "false"),
    ]

    private let cloud: JunctionCloud
    private let takesProductionKeys: Bool

    package init(_ settings: ProviderSettings) throws(ProviderConfigurationFault) {
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
