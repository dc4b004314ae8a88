import ArgumentParser
import JunctionClient
import JunctionProtocol
import Testing

@testable import junctionctl

/// The credential that each combination of options gives.
struct CredentialOptionsTests {
    private func form(_ arguments: String...) throws -> CredentialForm {
        try SignInCommand.parse(arguments).credential.form()
    }

    @Test func `without options Junction reads a Sign-In Token from standard input`() throws {
        guard case .signInToken(.standardInput) = try form().resolved(by: { .junction }) else {
            Issue.record("That is another scheme")
            return
        }
    }

    @Test(arguments: [(Provider.social, "--auth-token-file"), (.sinch, "--registration-token-file")])
    func `without options social.plus and Sinch ask for the missing options`(
        provider: Provider,
        option: String
    ) throws {
        let form = try form()

        let error = #expect(throws: CommandFailure.self) { try form.resolved { provider } }

        #expect(error?.status == .usage)
        #expect(error?.remedy?.contains("--user-id") == true)
        #expect(error?.remedy?.contains(option) == true)
    }

    @Test func `without options and without the right to ask for the provider it is a Sign-In Token`() throws {
        let form = try form()

        guard
            case .signInToken(.standardInput) = try form.resolved(by: { throw JunctionError(.permissionDenied, "no") })
        else {
            Issue.record("That is another scheme")
            return
        }
    }

    @Test func `a token file gives a Sign-In Token`() throws {
        guard case .signInToken(.file("t", option: _)) = try form("--token-file", "t") else {
            Issue.record("That is another scheme")
            return
        }
    }

    @Test func `a dash means standard input`() throws {
        guard case .signInToken(.standardInput) = try form("--token-file", "-") else {
            Issue.record("That is another scheme")
            return
        }
    }

    @Test func `a link code comes from standard input`() throws {
        guard case .linkCode(.standardInput) = try form("--link-code") else {
            Issue.record("That is another scheme")
            return
        }
    }

    @Test(arguments: [[], ["--user-id", "u"]])
    func `an API key takes an environment, a region and optionally a user`(user: [String]) throws {
        let arguments = ["--api-key-file", "k", "--environment", "sandbox", "--region", "us"] + user

        let form = try SignInCommand.parse(arguments).credential.form()

        guard case .apiKey(.file("k", option: _), userId: user.last, environment: "sandbox", region: "us") = form else {
            Issue.record("That is another scheme")
            return
        }
    }

    @Test(
        arguments: [
            (.junction, .apiKey(nil, userId: "u", environment: nil, region: nil)),
            (.social, .userLogin(userId: "u", displayName: nil, authToken: nil)),
            (.sinch, .registration(userId: "u", token: nil)),
        ] as [(Provider, Credential)]
    )
    func `the provider decides the meaning of a user id alone`(provider: Provider, credential: Credential) throws {
        #expect(try form("--user-id", "u").resolved { provider }.read() == credential)
    }

    @Test func `a user id alone is refused for an unknown provider`() throws {
        let form = try form("--user-id", "u")

        let error = #expect(throws: CommandFailure.self) { try form.resolved { try Provider(named: "acme") } }

        #expect(error?.kind == "unsupported")
    }

    @Test func `complete options do not ask for the provider`() throws {
        let form = try form("--user-id", "u", "--self-signed")

        let credential = try form.resolved {
            Issue.record("Nobody need know the provider")
            return .junction
        }.read()

        #expect(credential == .selfSigned(userId: "u"))
    }

    @Test func `a user id with an environment uses the daemon's API key`() throws {
        let credential = try form("--user-id", "u", "--environment", "sandbox").read()

        #expect(credential == .apiKey(nil, userId: "u", environment: "sandbox", region: nil))
    }

    @Test func `a social.plus log-in takes a display name or an auth token`() throws {
        #expect(
            try form("--user-id", "u", "--display-name", "Joe").read()
                == .userLogin(userId: "u", displayName: "Joe", authToken: nil)
        )
        guard
            case .userLogin(userId: "u", displayName: nil, authToken: .file("a", option: _)) = try form(
                "--user-id",
                "u",
                "--auth-token-file",
                "a"
            )
        else {
            Issue.record("That is another scheme")
            return
        }
    }

    @Test func `a registration takes a token from a file`() throws {
        guard
            case .registration(userId: "u", token: .file("r", option: _)) = try form(
                "--user-id",
                "u",
                "--registration-token-file",
                "r"
            )
        else {
            Issue.record("That is another scheme")
            return
        }
    }

    @Test(arguments: [#""18446744073709551615""#, "18446744073709551615"])
    func `the legacy signature is JSON, with a sequence of 64 bits`(sequence: String) throws {
        let file = #"{"signature":"c2ln","sequence":\#(sequence)}"#

        let credential = try withFile(file) { try form("--user-id", "u", "--registration-signature-file", $0).read() }

        #expect(credential == .registrationSignature(userId: "u", signature: SecretText("c2ln"), sequence: .max))
    }

    @Test(arguments: [
        "c2ln", "[]", #"{"signature":"c2ln"}"#, #"{"signature":"c2ln","sequence":7.5}"#,
        #"{"signature":"c2ln","sequence":"-1"}"#, #"{"sequence":"7"}"#,
    ])
    func `an invalid signature file is refused and not shown`(file: String) throws {
        let error = #expect(throws: CommandFailure.self) {
            try withFile(file) { try form("--user-id", "u", "--registration-signature-file", $0).read() }
        }

        #expect(error?.status == .usage)
        #expect(error?.what.contains("c2ln") == false)
    }

    @Test func `with OAuth a sign-in without options is a device sign-in`() throws {
        #expect(try form().resolved { .oauth }.read() == .device)
        #expect(try form("--device").read() == .device)
    }

    @Test func `with OAuth a user id alone is refused`() throws {
        let form = try form("--user-id", "u")

        let error = #expect(throws: CommandFailure.self) { try form.resolved { .oauth } }

        #expect(error?.status == .usage)
    }

    @Test func `the browser option gives the credential of the browser`() throws {
        let brought = Credential.authorizationCode(
            SecretText("c"),
            redirectUri: "http://127.0.0.1:1/callback",
            codeVerifier: SecretText("v")
        )

        #expect(try form("--browser").read { brought } == brought)
    }

    @Test func `another tool's refresh token comes from a file`() throws {
        let credential = try withFile("r-1\n") { try form("--refresh-token-file", $0).read() }

        #expect(credential == .refreshToken(SecretText("r-1")))
        guard case .refreshToken(.standardInput) = try form("--refresh-token-file", "-") else {
            Issue.record("That is another scheme")
            return
        }
    }

    @Test(arguments: [
        ("id_token", "urn:ietf:params:oauth:token-type:id_token"), ("urn:example:token", "urn:example:token"),
    ])
    func `a subject token takes a type, which may be a word of RFC 8693`(type: String, uri: String) throws {
        let credential = try withFile("s-1") {
            try form("--subject-token-file", $0, "--subject-token-type", type).read()
        }

        #expect(credential == .tokenExchange(subjectToken: SecretText("s-1"), subjectTokenType: uri))
    }

    @Test func `a QR picture with --json is refused`() throws {
        #expect(throws: CommandFailure.self) {
            try SignInCommand.parse(["--device", "--qr", "--json"]).options.codes(asPicture: true)
        }
    }

    private func withFile<Result>(_ content: String, _ body: (String) throws -> Result) throws -> Result {
        try temporaryFile(Array(content.utf8), body)
    }

    @Test(arguments: [
        ["--link-code", "--token-file", "t"],
        ["--link-code", "--api-key-file", "k", "--environment", "sandbox", "--region", "us"],
        ["--token-file", "t", "--user-id", "u"],
        ["--api-key-file", "k"],
        ["--api-key-file", "k", "--environment", "sandbox"],
        ["--token-file", "t", "--region", "us"],
        ["--link-code", "--environment", "sandbox"],
        ["--display-name", "Joe"],
        ["--self-signed"],
        ["--registration-token-file", "r"],
        ["--user-id", "u", "--display-name", "Joe", "--registration-token-file", "r"],
        ["--user-id", "u", "--self-signed", "--registration-signature-file", "s"],
        ["--user-id", "u", "--auth-token-file", "a", "--region", "us"],
        ["--user-id", "u", "--link-code"],
        ["--device", "--browser"],
        ["--device", "--user-id", "u"],
        ["--browser", "--token-file", "t"],
        ["--refresh-token-file", "r", "--user-id", "u"],
        ["--refresh-token-file", "r", "--device"],
        ["--subject-token-file", "s"],
        ["--subject-token-type", "jwt"],
        ["--subject-token-file", "s", "--subject-token-type", "jwt", "--refresh-token-file", "r"],
        ["--subject-token-file", "s", "--subject-token-type", "jwt", "--user-id", "u"],
    ])
    func `options of different sign-ins are refused`(arguments: [String]) throws {
        let options = try SignInCommand.parse(arguments).credential

        #expect(throws: (any Error).self) { try options.form() }
    }

    @Test func `a secret cannot be an argument`() {
        #expect(throws: (any Error).self) { try SignInCommand.parse(["token"]) }
    }
}
