import ArgumentParser
import JunctionProtocol
import Testing

@testable import junctionctl

/// Which options make which scheme.
struct CredentialOptionsTests {
    private func form(_ arguments: String...) throws -> CredentialForm {
        try SignInCommand.parse(arguments).credential.form()
    }

    @Test func `without options it is a Sign-In Token from standard input`() throws {
        guard case .signInToken(.standardInput) = try form() else {
            Issue.record("That is another scheme")
            return
        }
    }

    @Test func `a token file is a Sign-In Token`() throws {
        guard case .signInToken(.file("t")) = try form("--token-file", "t") else {
            Issue.record("That is another scheme")
            return
        }
    }

    @Test func `a dash is standard input`() throws {
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
    func `an API key has an environment and a region, and may have a user`(user: [String]) throws {
        let arguments = ["--api-key-file", "k", "--environment", "sandbox", "--region", "us"] + user

        let form = try SignInCommand.parse(arguments).credential.form()

        guard case .apiKey(.file("k"), userId: user.last, environment: "sandbox", region: "us") = form else {
            Issue.record("That is another scheme")
            return
        }
    }

    @Test func `a user alone completes the API key that the daemon has`() throws {
        let credential = try form("--user-id", "u").read()

        #expect(credential == .apiKey(nil, userId: "u", environment: nil, region: nil))
    }

    @Test(arguments: [
        ["--link-code", "--token-file", "t"],
        ["--link-code", "--api-key-file", "k", "--environment", "sandbox", "--region", "us"],
        ["--token-file", "t", "--user-id", "u"],
        ["--api-key-file", "k"],
        ["--api-key-file", "k", "--environment", "sandbox"],
        ["--token-file", "t", "--region", "us"],
        ["--link-code", "--environment", "sandbox"],
    ])
    func `what does not belong together is refused`(arguments: [String]) throws {
        let options = try SignInCommand.parse(arguments).credential

        #expect(throws: (any Error).self) { try options.form() }
    }

    @Test func `a secret cannot be an argument`() {
        #expect(throws: (any Error).self) { try SignInCommand.parse(["token"]) }
    }
}
