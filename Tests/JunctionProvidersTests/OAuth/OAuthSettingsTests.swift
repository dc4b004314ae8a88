import JunctionSession
import Testing

@testable import JunctionProviders

struct OAuthSettingsTests {
    private static let good: [String: ProviderSetting.Value] = [
        "issuer": "https://id.example.com", "clientId": "client-1",
    ]

    /// Made for these tests only: one key in the two forms of openssl, and one key of another curve.
    static let pkcs8 = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgWbLpoqnYI0GkeB1s
        95WiKotM46rGJZAW7rD+J3WbCLShRANCAASyXs4N6vFPZ2bHZhhUo9hli9Cppf7I
        D9e4EoGTOW+6VTSQgKEDMHs0oOOdw41pggqgOg0jHeuf1x77zFdTEu7f
        -----END PRIVATE KEY-----
        """
    static let sec1 = """
        -----BEGIN EC PARAMETERS-----
        BggqhkjOPQMBBw==
        -----END EC PARAMETERS-----
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIFmy6aKp2CNBpHgdbPeVoiqLTOOqxiWQFu6w/id1mwi0oAoGCCqGSM49
        AwEHoUQDQgAEsl7ODerxT2dmx2YYVKPYZYvQqaX+yA/XuBKBkzlvulU0kIChAzB7
        NKDjncONaYIKoDoNIx3rn9ce+8xXUxLu3w==
        -----END EC PRIVATE KEY-----
        """
    private static let p384 = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDBNuYLOybWfhNM79HrG
        whWDdTxcVrgolDy/giRQcc5+sENjDFh7CfeA9hqa3Vl7RHuhZANiAARmUEH1tK6g
        AA1V291mGJewWpWBOH6V5CDdcku0yEcJqMPYZE+cyK03rF3aBgmrkNmJBl2SEhD7
        TvMNRhshhxxB3HlParW7cm7F3UnghMafHaN+spntRaNmyIRxQPh6rMA=
        -----END PRIVATE KEY-----
        """

    @Test func `an issuer and a client id are enough, and validation sends no request`() throws {
        let setup = try OAuthSetup.checked(Self.good)

        #expect(setup.issuer.text == "https://id.example.com")
        #expect(setup.client.id == "client-1")
        #expect(setup.identity == .idToken)
        #expect(setup.api == nil)
    }

    @Test(
        arguments: [
            (["issuer": nil], "oauth.issuer is missing"), (["clientId": nil], "oauth.clientId is missing"),
            (["issuer": "http://id.example.com"], "oauth.issuer: http://id.example.com is not encrypted"),
            (["issuer": "https://id.example.com?tenant=1"], "oauth.issuer: An issuer has no query"),
            (["issuer": "https://id.example.com#x"], "oauth.issuer: The URL must have no fragment"),
            (["issuer": "id.example.com"], "oauth.issuer: Not a URL"),
            (["apiUrl": "http://api.example.com/v1"], "oauth.apiUrl: http://api.example.com is not encrypted"),
            (
                ["tokenEndpoint": "http://id.example.com/t"],
                "oauth.tokenEndpoint: http://id.example.com is not encrypted"
            ),
            (["revocationEndpoint": "https://id.example.com/#t"], "oauth.revocationEndpoint: The URL must have no"),
            (["scopes": ["a\"b"]], "oauth.scopes: "), (["resource": ["api"]], "oauth.resource: "),
            (["clientAuthentication": "basic"], "\"basic\" needs the client's secret: set oauth.clientSecretFile"),
            (["clientAuthentication": "post"], "\"post\" needs the client's secret"),
            (["clientAuthentication": "privateKeyJwt"], "\"privateKeyJwt\" needs the client's key"),
            (["clientSecretFile": "/secret"], "oauth.clientAuthentication is \"none\""),
            (
                ["clientAuthentication": "basic", "clientSecretFile": "/nowhere"],
                "clientSecretFile: /nowhere does not exist"
            ),
            (["clientAuthentication": "basic", "clientSecretFile": "/pkcs8"], "a client secret is one line"),
            (["clientAuthentication": "privateKeyJwt", "clientKeyFile": "/secret"], "not a private key in PEM form"),
            (["clientAuthentication": "privateKeyJwt", "clientKeyFile": "/p384"], "the key is not one of P-256"),
            (
                ["clientAuthentication": "privateKeyJwt", "clientKeyFile": "/nowhere"],
                "clientKeyFile: /nowhere does not exist: create it with the private key in PEM form"
            ),
        ] as [([String: ProviderSetting.Value?], String)]
    )
    func `an invalid setting fails at validation, and the message names it`(
        change: [String: ProviderSetting.Value?],
        words: String
    ) throws {
        var settings = Self.good
        for (key, value) in change { settings[key] = value }
        let files = ["/secret": "s3cret", "/pkcs8": Self.pkcs8, "/p384": Self.p384]

        let fault = #expect(throws: ProviderConfigurationFault.self) { try OAuthSetup.checked(settings, files: files) }

        #expect(fault?.message.contains(words) == true, "\(fault?.message ?? "")")
        #expect(fault?.message.contains("s3cret") == false)
    }

    @Test(arguments: [pkcs8, sec1])
    func `a key is read in either form`(pem: String) throws {
        let settings = Self.good.merging(["clientAuthentication": "privateKeyJwt", "clientKeyFile": "/key"]) { $1 }

        #expect(throws: Never.self) { try OAuthSetup.checked(settings, files: ["/key": pem]) }
    }

    @Test func `secrets may be credentials of the service manager`() throws {
        let settings = Self.good.merging(["clientAuthentication": "basic"]) { $1 }

        #expect(throws: Never.self) {
            try OAuthSetup.checked(settings, files: ["/run/c/oauth.clientSecret": "s"], credentials: "/run/c")
        }
    }

    @Test func `plain http is allowed on loopback only, also for the API`() throws {
        let settings: [String: ProviderSetting.Value] = [
            "issuer": "http://127.0.0.1:9000/o", "apiUrl": "http://[::1]:9001/v1/",
        ]

        #expect(throws: Never.self) { try OAuthSetup.checked(Self.good.merging(settings) { $1 }) }
    }

    @Test func `the daemon renews by default, and every endpoint has a setting`() {
        let keys = OAuthDefinition.settings.map(\.key)

        #expect(OAuthDefinition.renewsByItself)
        #expect(Set(keys).isSuperset(of: OAuthEndpoint.allCases.map(\.setting)))
    }
}
