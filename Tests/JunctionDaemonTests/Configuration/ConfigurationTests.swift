import JunctionProtocol
import JunctionProviders
import Logging
import Testing

@testable import JunctionDaemon

@Suite struct ConfigurationTests {
    @Test func `an empty file means the defaults`() throws {
        #expect(try settings("") == Configuration())
        #expect(try settings("# nothing but a comment\r\n") == Configuration())
    }

    @Test func `every key is read`() throws {
        let configuration = try settings(
            """
            provider = "sinch"
            [junction]
            authUrl = "http://127.0.0.1:8787"
            apiUrl = "https://api.example.org/junction/"
            apiKeyInProduction = true
            [social]
            region = "sg"
            apiUrl = "http://[::1]:9"
            apiKeyFile = "/etc/key"
            [sinch]
            applicationKey = "a32e5a8d"
            environmentHost = "sandbox.api.sinch.com"
            registrationUrl = "http://localhost"
            applicationSecretFile = "/etc/secret"
            [oauth]
            issuer = "https://id.example.com/realms/a"
            clientId = "kiosk"
            clientAuthentication = "privateKeyJwt"
            clientSecretFile = "/etc/oauth.secret"
            clientKeyFile = "/etc/oauth.pem"
            assertionAudience = "endpoint"
            scopes = ["openid", "a:b"]
            audience = "the API"
            resource = ["https://api.example.com/"]
            identity = "userinfo"
            apiUrl = "https://api.example.com/v1/"
            tokenEndpoint = "https://id.example.com//token/?v=2"
            deviceAuthorizationEndpoint = "https://id.example.com/device"
            revocationEndpoint = "https://id.example.com/revoke"
            userinfoEndpoint = "https://id.example.com/userinfo"
            authorizationEndpoint = "https://id.example.com/authorize"
            [tls]
            caFile = "/etc/ca.pem"
            [renewal]
            mode = "automatic"
            handlerTimeout = 1
            postponeFor = 3_600
            [api]
            expose = false
            [limits]
            connections = 1
            inFlight = 0x10
            providerCallsPerMinute = 7
            [[access]]
            allow = ["status", "token", "api", "handle"]
            unit = "health-sync.service"
            [[access]]
            allow = ["manage"]
            user = "kiosk"
            group = "0"
            [[access]]
            allow = []
            [log]
            level = "critical"
            """
        )

        var expected = Configuration()
        expected.provider = try #require(ProviderName(rawValue: "sinch"))
        expected.providerValues = [
            "junction": [
                "authUrl": "http://127.0.0.1:8787", "apiUrl": "https://api.example.org/junction/",
                "apiKeyInProduction": "true",
            ],
            "social": ["region": "sg", "apiUrl": "http://[::1]:9", "apiKeyFile": "/etc/key"],
            "sinch": [
                "applicationKey": "a32e5a8d", "environmentHost": "sandbox.api.sinch.com",
                "registrationUrl": "http://localhost", "applicationSecretFile": "/etc/secret",
            ],
            "oauth": [
                "issuer": "https://id.example.com/realms/a", "clientId": "kiosk",
                "clientAuthentication": "privateKeyJwt", "clientSecretFile": "/etc/oauth.secret",
                "clientKeyFile": "/etc/oauth.pem", "assertionAudience": "endpoint", "scopes": ["openid", "a:b"],
                "audience": "the API", "resource": ["https://api.example.com/"], "identity": "userinfo",
                "apiUrl": "https://api.example.com/v1/", "tokenEndpoint": "https://id.example.com//token/?v=2",
                "deviceAuthorizationEndpoint": "https://id.example.com/device",
                "revocationEndpoint": "https://id.example.com/revoke",
                "userinfoEndpoint": "https://id.example.com/userinfo",
                "authorizationEndpoint": "https://id.example.com/authorize",
            ],
        ]
        expected.tls.caFile = "/etc/ca.pem"
        expected.renewal.mode = .automatic
        expected.renewal.handlerTimeout = .seconds(1)
        expected.renewal.postponeFor = .seconds(3_600)
        expected.api.expose = false
        expected.limits.connections = 1
        expected.limits.inFlight = 16
        expected.limits.providerCallsPerMinute = 7
        expected.access = [
            AccessEntry(allow: [.status, .token, .api, .handle], unit: "health-sync.service"),
            AccessEntry(allow: [.manage], user: "kiosk", group: "0"),
            AccessEntry(allow: []),
        ]
        expected.log.level = .critical
        #expect(configuration == expected)
    }

    @Test func `the default renewal mode depends on the provider`() throws {
        #expect(try settings("").renewalMode == .automatic)
        #expect(try settings(#"provider = "social""#).renewalMode == .handler)
        #expect(try settings(#"provider = "sinch""#).renewalMode == .handler)
        #expect(try settings(#"provider = "oauth""#).renewalMode == .automatic)
        #expect(try settings("provider = \"sinch\"\nrenewal.mode = \"automatic\"").renewalMode == .automatic)
        #expect(try settings("[renewal]\nmode = \"handler\"").renewalMode == .handler)
    }

    @Test func `a variable overrides the file for its key only`() throws {
        let configuration = try settings(
            "[limits]\ninFlight = 5\nconnections = 6\n[log]\nlevel = \"debug\"\n[api]\nexpose = true",
            variables: [
                "JUNCTIOND_LIMITS_IN_FLIGHT": "7",
                "JUNCTIOND_JUNCTION_AUTH_URL": "http://127.0.0.1:1",
                "JUNCTIOND_RENEWAL_HANDLER_TIMEOUT": "8",
                "JUNCTIOND_API_EXPOSE": "false",
                "JUNCTIOND_TLS_CA_FILE": "/ca.pem",
                "JUNCTIOND_OAUTH_SCOPES": " openid  a:b",
                "JUNCTIOND_LOG_LEVEL": "",
            ]
        )

        #expect(configuration.limits.inFlight == 7)
        #expect(configuration.limits.connections == 6)
        #expect(configuration.providerValues["junction"]?["authUrl"] == "http://127.0.0.1:1")
        #expect(configuration.renewal.handlerTimeout == .seconds(8))
        #expect(!configuration.api.expose)
        #expect(configuration.tls.caFile == "/ca.pem")
        // In a variable, a list is words that blanks separate.
        #expect(configuration.providerValues["oauth"]?["scopes"] == ["openid", "a:b"])
        // An empty variable counts as absent.
        #expect(configuration.log.level == .debug)
    }

    @Test func `an error about a variable has its name and not its text`() {
        let complaint = complaint("", variables: ["JUNCTIOND_PROVIDER": "sk_us_secret"])

        #expect(
            complaint
                == #"JUNCTIOND_PROVIDER: expected one of "junction", "social", "sinch", "oauth", found different text"#
        )
    }

    @Test func `a variable cannot set a key of a list entry`() throws {
        let variables = ["JUNCTIOND_ACCESS[0]_USER": "root"]

        let configuration = try settings("[[access]]\nallow = []\nuser = \"kiosk\"", variables: variables)

        #expect(configuration.access == [AccessEntry(allow: [], user: "kiosk")])
    }
}
