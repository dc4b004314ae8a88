package import JunctionSession

/// The vendor for any OAuth 2.0 or OpenID Connect server that the configuration describes.
package struct OAuthVendor: Vendor {
    package static let name = "oauth"
    package static let renewsByItself = true
    package static let settings = [
        // Compared exactly: a slash at its end is a difference.
        VendorSetting("issuer", .url),
        VendorSetting("clientId", .text("the id under which the server knows this client")),
        VendorSetting(
            "clientAuthentication",
            .word(["none", "basic", "post", "privateKeyJwt"]),
            usually: "none"
        ),
        // For `basic` and `post`. The service manager's credential `oauth.clientSecret` can replace the file.
        VendorSetting("clientSecretFile", .secretFile(credential: OAuthSetup.secretCredential)),
        // For `privateKeyJwt`. The service manager's credential `oauth.clientKey` can replace the file.
        VendorSetting("clientKeyFile", .secretFile(credential: OAuthSetup.keyCredential)),
        VendorSetting(
            "assertionAudience",
            .word(AssertionAudience.allCases.map(\.rawValue)),
            usually: AssertionAudience.issuer.rawValue
        ),
        VendorSetting("scopes", words: "scopes", usually: ["openid", "offline_access"]),
        // Used only at a sign-in.
        VendorSetting("audience", .text("the name of the API that tokens are for")),
        VendorSetting("resource", words: "URIs of the APIs that tokens are for", usually: []),
        VendorSetting(
            "identity",
            .word(IdentitySource.allCases.map(\.rawValue)),
            usually: IdentitySource.idToken.rawValue
        ),
        VendorSetting("apiUrl", .url),
        // Each replaces the URL of the metadata.
        VendorSetting(OAuthEndpoint.token.setting, .endpoint),
        VendorSetting(OAuthEndpoint.deviceAuthorization.setting, .endpoint),
        VendorSetting(OAuthEndpoint.revocation.setting, .endpoint),
        VendorSetting(OAuthEndpoint.userinfo.setting, .endpoint),
        VendorSetting(OAuthEndpoint.authorization.setting, .endpoint),
    ]

    private let setup: OAuthSetup

    package init(_ settings: VendorSettings) throws(ProviderConfigurationFault) {
        setup = try OAuthSetup(settings)
    }

    package func provider(in context: ProviderContext) -> any IdentityProvider {
        OAuthProvider(setup: setup, http: context.http, clock: context.clock)
    }
}
