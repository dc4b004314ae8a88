import Testing

@testable import JunctionDaemon

@Suite struct StrictnessTests {
    @Test func `an unknown key is refused with its file, its line and the known keys`() {
        #expect(
            complaint("# first line\n\n[limits]\n  conections = 5")
                == "junctiond.toml:4: limits.conections: unknown key: did you mean \"connections\"? There are: "
                + "connections, inFlight, providerCallsPerMinute"
        )
    }

    @Test(
        arguments: [
            "verbose = true", "[unknown]", "[junction]\ntimeout = 5", "[[access]]\nallow = []\npid = \"1\"",
            "renewal.jitter = 1", "[log.level2]\na = 1", "\"\" = 1", "\"provider \" = 1", "Provider = \"junction\"",
            "[[unknown]]\nprovider = \"junction\"", "[junction.authUrl2]",
        ]
    )
    func `an unknown key is refused in every table`(toml: String) throws {
        #expect(complaint(toml)?.contains("unknown key") == true)
    }

    @Test func `of several unknown keys the first one is reported`() {
        #expect(complaint("zebra = 1\nant = 2")?.hasPrefix("junctiond.toml:1: zebra:") == true)
    }

    @Test(
        arguments: [
            ("provider = 5", "provider: expected one of \"junction\", \"social\", \"sinch\", \"oauth\", found 5"),
            ("provider = \"Junction\"", "found \"Junction\": did you mean \"junction\"?"),
            ("provider = \"sosial\"", "found \"sosial\": did you mean \"social\"?"),
            ("provider = \"hunter2\"", "found different text"),
            ("provider = \"\"", "found empty text"),
            ("provider = 1979-05-27", "found a date or time"),
            ("provider = [\"junction\"]", "found a different list"),
            ("provider.x = 1", "found a table"),
            ("junction = \"x\"", "junction: expected a table, [junction], found different text"),
            ("[[junction]]", "junction: expected a table, [junction], found a different list"),
            ("[access]", "access: expected tables, each under [[access]], found a table"),
            ("access = [1]", "access: expected tables, each under [[access]], found 1"),
            ("api.expose = 1", "api.expose: expected true or false, found 1"),
            (
                "api.socket = \"/\(String(repeating: "x", count: 107))\"",
                "expected an absolute path of at most 107 bytes"
            ),
            ("api.expose = \"true\"", "api.expose: expected true or false, found different text"),
            ("limits.connections = 0", "expected a whole number from 1 to 100000, found 0"),
            ("limits.connections = 100001", "found 100001"),
            ("limits.connections = 1.5", "found a number with a fraction"),
            ("limits.connections = inf", "found a number with a fraction"),
            ("limits.connections = \"5\"", "found different text"),
            ("renewal.postponeFor = 599", "from 600 to 604800, found 599"),
            ("renewal.handlerTimeout = 0", "expected a whole number of seconds from 1 to 3600, found 0"),
            ("renewal.handlerTimeout = -9223372036854775808", "found -9223372036854775808"),
            ("renewal.handlerTimeout = 9223372036854775807", "found 9223372036854775807"),
            ("tls.caFile = \"ca.pem\"", "expected an absolute path"),
            ("tls.caFile = \"/etc/ca\\n.pem\"", "expected an absolute path"),
            ("sinch.environmentHost = \"https://ocra.api.sinch.com\"", "expected a host name"),
            ("sinch.environmentHost = \"ocra.api.sinch.com:443\"", "expected a host name"),
            ("sinch.environmentHost = \"a b\"", "expected a host name"),
            ("social.region = \"mars\"", "social.region: expected one of \"eu\", \"sg\", \"us\", found different text"),
            ("oauth.scopes = \"openid\"", "oauth.scopes: expected a list of scopes, found different text"),
            ("oauth.scopes = [\"openid\", 5]", "oauth.scopes: expected a list of scopes; item 2 is 5"),
            ("oauth.scopes = [\"open id\"]", "oauth.scopes: expected a list of scopes; item 1 is different text"),
            ("oauth.tokenEndpoint = \"http://id.example.com/t?a=b\"", "http://id.example.com is not encrypted"),
            ("log.level = \"warn\"", "\"warning\""),
        ]
    )
    func `a wrong type or value is refused with the expected value`(toml: String, expected: String) {
        #expect(complaint(toml)?.contains(expected) == true)
    }

    @Test(
        arguments: [
            "http://example.org", "http://127.0.0.1.example.org", "http://10.0.0.1:8787", "ftp://127.0.0.1",
            "example.org",
            "https://user:password@example.org", "https://", "https://a:0", "https://a/?x=1", "",
        ]
    )
    func `a URL of a provider must be https, or http on loopback`(url: String) {
        #expect(
            complaint("[junction]\nauthUrl = \"\(url)\"")?.hasPrefix("junctiond.toml:2: junction.authUrl: ") == true
        )
    }

    @Test func `an error about a URL does not show its password`() {
        #expect(complaint("junction.apiUrl = \"https://user:pass@example.org\"")?.contains("pass@") == false)
    }

    @Test(
        arguments: [
            ("user = \"kiosk\"", "access[1].allow: missing; expected a list of \"status\""),
            ("alow = [\"status\"]", "access[1].alow: unknown key: did you mean \"allow\"? There are: allow, "),
            ("allow = \"status\"", "access[1].allow: expected a list of \"status\""),
            ("allow = [\"everything\"]", "access[1].allow: expected a list of \"status\""),
            ("allow = [1]", "access[1].allow: expected a list of \"status\""),
            ("allow = [\"status\", \"tokens\"]", "; item 2 is \"tokens\": did you mean \"token\"?"),
            ("allow = [\"sk_us_secret\"]", "\"manage\"; item 1 is none of them"),
            (
                "allow = []\nunit = \"health-sync\"",
                "access[1].unit: expected a full unit name, such as \"health-sync.service\" or \"worker@1.service\", "
                    + "without a wildcard, found different text"
            ),
            ("allow = []\nunit = \".service\"", "access[1].unit: expected a full unit name"),
            ("allow = []\nunit = \"a/b.service\"", "access[1].unit: expected a full unit name"),
            ("allow = []\nunit = \"*.service\"", "access[1].unit: expected a full unit name"),
            ("allow = []\nunit = \"a@.service\"", "access[1].unit: expected a full unit name"),
            ("allow = []\nunit = \"@a.service\"", "access[1].unit: expected a full unit name"),
            ("allow = []\nunit = \"a b.service\"", "access[1].unit: expected a full unit name"),
            ("allow = []\nunit = \"ä.service\"", "access[1].unit: expected a full unit name"),
            ("allow = []\nuser = 1000", "access[1].user: expected a user by name or by number, as text, found 1000"),
            ("allow = []\nuser = \"a:b\"", "access[1].user: expected a user"),
            ("allow = []\ngroup = \"\"", "access[1].group: expected a group"),
            ("allow = []\naudience = \"api\"", "access[1].audience: reserved for access tokens"),
            ("allow = []\nscopes = [\"a\"]", "access[1].scopes: reserved for access tokens"),
        ]
    )
    func `a wrong access entry is refused with its line`(entry: String, expected: String) {
        let complaint = complaint("[[access]]\nallow = [\"status\"]\n\n[[access]]\n" + entry)

        #expect(complaint?.contains(expected) == true)
        // The line of the key, or the line of the entry if the key is missing.
        #expect(
            complaint?.hasPrefix("junctiond.toml:4:") == true || complaint?.hasPrefix("junctiond.toml:5:") == true
                || complaint?.hasPrefix("junctiond.toml:6:") == true
        )
    }

    @Test func `control characters of a key are replaced in the error`() {
        #expect(
            complaint("\"\\u001B[2J\\n\" = 1")?.hasPrefix("junctiond.toml:1: \u{FFFD}[2J\u{FFFD}: unknown key") == true
        )
    }

    @Test func `an error has the right line for quoted, dotted and inline keys`() {
        #expect(complaint("\n \"log\" . level = 5")?.hasPrefix("junctiond.toml:2: log.level") == true)
        #expect(complaint("\n\n[ log ]\n\n'level' = 5")?.hasPrefix("junctiond.toml:5: log.level") == true)
        #expect(complaint("\r\nlog = { level = 5 }\r\n")?.hasPrefix("junctiond.toml:2: log.level") == true)
    }
}
