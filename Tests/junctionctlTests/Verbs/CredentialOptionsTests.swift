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

    // MARK: Where the secret comes from

    private static let secret = SecretText("s-1")

    @Test(
        arguments: [
            (["--token-file", "FILE"], .signInToken(secret)),
            (
                ["--api-key-file", "FILE", "--environment", "sandbox", "--region", "us"],
                .apiKey(secret, userId: nil, environment: "sandbox", region: "us")
            ),
            (
                ["--api-key-file", "FILE", "--environment", "sandbox", "--region", "us", "--user-id", "u"],
                .apiKey(secret, userId: "u", environment: "sandbox", region: "us")
            ),
            (
                ["--user-id", "u", "--auth-token-file", "FILE"],
                .userLogin(userId: "u", displayName: nil, authToken: secret)
            ),
            (["--user-id", "u", "--registration-token-file", "FILE"], .registration(userId: "u", token: secret)),
            (["--refresh-token-file", "FILE"], .refreshToken(secret)),
            // The type may be a word of RFC 8693.
            (
                ["--subject-token-file", "FILE", "--subject-token-type", "id_token"],
                .tokenExchange(
                    subjectToken: secret,
                    subjectTokenType: "urn:ietf:params:oauth:token-type:id_token"
                )
            ),
            (
                ["--subject-token-file", "FILE", "--subject-token-type", "urn:example:token"],
                .tokenExchange(subjectToken: secret, subjectTokenType: "urn:example:token")
            ),
        ] as [([String], Credential)]
    )
    func `a secret comes from the file that its option names`(options: [String], credential: Credential) throws {
        let read = try withFile("s-1\n") { file in
            try SignInCommand.parse(options.map { $0 == "FILE" ? file : $0 }).credential.form().read()
        }

        #expect(read == credential)
    }

    @Test(arguments: [
        (["--token-file", "-"], "Sign-In Token"), (["--link-code"], "link code"),
        (["--refresh-token-file", "-"], "refresh token"), ([], "Sign-In Token"),
    ])
    func `a dash, a link code and no option mean standard input`(options: [String], secret: String) throws {
        let form = try SignInCommand.parse(options).credential.form()

        // Without an option and without the right to ask for the provider it is a Sign-In Token.
        for provider in [{ .junction }, { throw JunctionError(.permissionDenied, "no") }] as [() throws -> Provider] {
            guard case .secret(.standardInput, secret, _) = try form.resolved(by: provider) else {
                Issue.record("\(form)")
                continue
            }
        }
    }

    private func withFile<Result>(_ content: String, _ body: (String) throws -> Result) throws -> Result {
        try temporaryFile(Array(content.utf8), body)
    }

    // MARK: What the provider decides

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

    @Test func `a social.plus log-in takes a display name`() throws {
        #expect(
            try form("--user-id", "u", "--display-name", "Joe").read()
                == .userLogin(userId: "u", displayName: "Joe", authToken: nil)
        )
    }

    @Test func `a user id with an environment uses the daemon's API key`() throws {
        let credential = try form("--user-id", "u", "--environment", "sandbox").read()

        #expect(credential == .apiKey(nil, userId: "u", environment: "sandbox", region: nil))
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

    @Test func `a QR picture with --json is refused`() throws {
        #expect(throws: CommandFailure.self) {
            try SignInCommand.parse(["--device", "--qr", "--json"]).options.codes(asPicture: true)
        }
    }

    @Test(arguments: [
        ["--link-code", "--token-file", "t"],
        ["--link-code", "--api-key-file", "k", "--environment", "sandbox", "--region", "us"],
        ["--token-file", "t", "--user-id", "u"],
        ["--api-key-file", "k"],
        ["--api-key-file", "k", "--environment", "sandbox"],
        ["--token-file", "t", "--region", "us"],
        ["--link-code", "--environment", "sandbox"],
        ["--environment", "sandbox"],
        ["--display-name", "Joe"],
        ["--self-signed"],
        ["--auth-token-file", "a"],
        ["--registration-token-file", "r"],
        ["--registration-signature-file", "s"],
        ["--user-id", "u", "--self-signed", "--registration-token-file", "r"],
        ["--user-id", "u", "--self-signed", "--display-name", "Joe"],
        ["--user-id", "u", "--self-signed", "--region", "us"],
        ["--user-id", "u", "--registration-token-file", "r", "--registration-signature-file", "s"],
        ["--user-id", "u", "--auth-token-file", "a", "--registration-token-file", "r"],
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
