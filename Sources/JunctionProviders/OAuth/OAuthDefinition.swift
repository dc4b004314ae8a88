package import JunctionSession

/// The provider for any OAuth 2.0 or OpenID Connect server that the configuration describes.
package struct OAuthDefinition: ProviderDefinition {
    package static let name = "oauth"
    package static let renewsByItself = true
    package static let settings = [
        // Compared exactly: a slash at its end is a difference.
        ProviderSetting("issuer", .url),
        ProviderSetting("clientId", .text("the id under which the server knows this client")),
        ProviderSetting(
            "clientAuthentication",
            .word(["none", "basic", "post", "privateKeyJwt"]),
            usually: "none"
        ),
        // For `basic` and `post`. The service manager's credential `oauth.clientSecret` can replace the file.
        ProviderSetting("clientSecretFile", .secretFile(credential: OAuthSetup.secretCredential)),
        // For `privateKeyJwt`. The service manager's credential `oauth.clientKey` can replace the file.
        ProviderSetting("clientKeyFile", .secretFile(credential: OAuthSetup.keyCredential)),
        ProviderSetting(
            "assertionAudience",
            .word(AssertionAudience.allCases.map(\.rawValue)),
            usually: AssertionAudience.issuer.rawValue
        ),
        ProviderSetting("scopes", words: "scopes", usually: ["openid", "offline_access"]),
        // Used only at a sign-in.
        ProviderSetting("audience", .text("the name of the API that tokens are for")),
        ProviderSetting("resource", words: "URIs of the APIs that tokens are for", usually: []),
        ProviderSetting(
            "identity",
            .word(IdentitySource.allCases.map(\.rawValue)),
            usually: IdentitySource.idToken.rawValue
        ),
        ProviderSetting("apiUrl", .url),
        // Each replaces the URL of the metadata.
        ProviderSetting(OAuthEndpoint.token.setting, .endpoint),
        ProviderSetting(OAuthEndpoint.deviceAuthorization.setting, .endpoint),
        ProviderSetting(OAuthEndpoint.revocation.setting, .endpoint),
        ProviderSetting(OAuthEndpoint.userinfo.setting, .endpoint),
        ProviderSetting(OAuthEndpoint.authorization.setting, .endpoint),
    ]

    private let setup: OAuthSetup

    package init(_ settings: ProviderSettings) throws(ProviderConfigurationFault) {
        setup = try OAuthSetup(settings)
    }

    package func provider(in context: ProviderContext) -> any IdentityProvider {
        OAuthProvider(setup: setup, http: context.http, clock: context.clock)
    }
}
