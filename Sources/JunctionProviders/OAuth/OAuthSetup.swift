import JunctionSecret
import JunctionText

/// The validated configuration of the server and of this daemon as its client. Validation needs no network.
package struct OAuthSetup: Sendable {
    let issuer: OAuthIssuer
    let client: OAuthClient
    /// The scopes of a sign-in request.
    let scopes: [String]
    let audience: String?
    let resources: [String]
    let identity: IdentitySource
    /// The API that local apps may call through the daemon.
    let api: HTTPOrigin?
    /// The endpoints in the configuration. They take precedence over the metadata.
    let endpoints: [OAuthEndpoint: HTTPURL]

    static let secretCredential = "oauth.clientSecret"
    static let keyCredential = "oauth.clientKey"

    package init(_ settings: ProviderSettings) throws(ProviderConfigurationFault) {
        guard let issuer = settings["issuer"] else {
            throw ProviderConfigurationFault(
                "oauth.issuer is missing: it is the server's URL as its own metadata spells it, such as "
                    + "https://id.example.com"
            )
        }
        self.issuer = try ProviderConfigurationFault.naming("oauth.issuer", OAuthIssuer(issuer))
        client = try OAuthClient(settings)
        scopes = settings.list("scopes")
        audience = settings["audience"]
        resources = settings.list("resource")
        identity = settings["identity"].flatMap(IdentitySource.init) ?? .idToken
        guard scopes.allSatisfy(Self.isScope) else {
            throw ProviderConfigurationFault(
                "oauth.scopes: a scope has printable ASCII characters only, without spaces, quotes and backslashes"
            )
        }
        guard resources.allSatisfy({ AbsoluteUri.isValid($0) && !$0.contains("#") }) else {
            throw ProviderConfigurationFault("oauth.resource: expected absolute URIs without a fragment")
        }
        if let url = settings["apiUrl"] {
            api = try ProviderConfigurationFault.naming("oauth.apiUrl", HTTPOrigin(url))
        } else {
            api = nil
        }
        var endpoints: [OAuthEndpoint: HTTPURL] = [:]
        for endpoint in OAuthEndpoint.allCases {
            guard let url = settings[endpoint.setting] else { continue }
            endpoints[endpoint] = try ProviderConfigurationFault.naming("oauth.\(endpoint.setting)", HTTPURL(url))
        }
        self.endpoints = endpoints
    }

    /// Returns whether the text is a scope (RFC 6749 §3.3).
    private static func isScope(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0.isVisibleASCII && $0 != 0x22 && $0 != 0x5C }
    }
}

/// The source of the user's identity at a sign-in.
package enum IdentitySource: String, Sendable, CaseIterable {
    /// The id_token, or the userinfo endpoint if there is no id_token.
    case idToken
    /// Always the userinfo endpoint.
    case userinfo
}

/// A URI with a scheme, as RFC 8693 and RFC 8707 require. Only its form is checked.
enum AbsoluteUri {
    static func isValid(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")),
            text.utf8.index(after: colon) != text.utf8.endIndex,
            let first = text.utf8.first, first.isASCIILetter, text.utf8.count <= 2_048
        else { return false }
        return text.utf8[..<colon].allSatisfy { $0.isASCIILetterOrDigit || "+-.".utf8.contains($0) }
            && text.utf8.allSatisfy(\.isVisibleASCII)
    }
}
