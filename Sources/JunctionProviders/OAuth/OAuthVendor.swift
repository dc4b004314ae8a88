package import JunctionSession

/// Any server that speaks OAuth 2.0 or OpenID Connect, as its owner's configuration describes it.
package struct OAuthVendor: Vendor {
    package static let name = "oauth"
    package static let renewsByItself = true
    package static let settings = [
        // To the letter: a slash at its end is a difference.
        VendorSetting("issuer", .url),
        VendorSetting("clientId", .text("the id under which the server knows this client")),
        VendorSetting(
            "clientAuthentication",
            .word(["none", "basic", "post", "privateKeyJwt"]),
            usually: "none"
        ),
        // For `basic` and `post`, unless the service manager passes the credential `oauth.clientSecret`.
        VendorSetting("clientSecretFile", .secretFile(credential: OAuthSetup.secretCredential)),
        // For `privateKeyJwt`, unless the service manager passes the credential `oauth.clientKey`.
        VendorSetting("clientKeyFile", .secretFile(credential: OAuthSetup.keyCredential)),
        VendorSetting(
            "assertionAudience",
            .word(AssertionAudience.allCases.map(\.rawValue)),
            usually: AssertionAudience.issuer.rawValue
        ),
        VendorSetting("scopes", words: "scopes", usually: ["openid", "offline_access"]),
        // These two at a sign-in only.
        VendorSetting("audience", .text("the name of the API that tokens are for")),
        VendorSetting("resource", words: "URIs of the APIs that tokens are for", usually: []),
        VendorSetting(
            "identity",
            .word(IdentitySource.allCases.map(\.rawValue)),
            usually: IdentitySource.idToken.rawValue
        ),
        VendorSetting("apiUrl", .url),
        // Each instead of what the server's own metadata says, or where there is none.
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
