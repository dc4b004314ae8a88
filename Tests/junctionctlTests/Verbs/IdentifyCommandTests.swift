import ArgumentParser
import JunctionClient
import JunctionProtocol
import Testing

@testable import junctionctl

/// The credential of `identify` for each provider.
struct IdentifyCommandTests {
    private func credential(_ provider: Provider, _ arguments: String...) throws -> Credential {
        let command = try IdentifyCommand.parse(["app-anna"] + arguments)
        return try command.credential(for: "app-anna", of: provider)
    }

    private let token = ["--token-command", "echo token of $JUNCTION_EXTERNAL_USER_ID"]

    @Test func `with Junction the command prints a Sign-In Token`() throws {
        #expect(
            try credential(.junction, token[0], token[1]) == .signInToken(SecretText("token of app-anna"))
        )
    }

    @Test(.timeLimit(.minutes(1))) func `the command ends at the deadline`() throws {
        let command = try IdentifyCommand.parse(["app-anna", "--token-command", "sleep 60; echo t"])

        let error = #expect(throws: CommandFailure.self) {
            try command.credential(for: "app-anna", of: .junction, by: .after(.milliseconds(200)))
        }

        #expect(error?.what.contains("the token command") == true)
        #expect(error?.status == .temporary)
    }

    @Test func `with social.plus the command prints an auth token and is optional`() throws {
        #expect(
            try credential(.social, token[0], token[1])
                == .userLogin(userId: "app-anna", displayName: nil, authToken: SecretText("token of app-anna"))
        )
        #expect(
            try credential(.social, "--user-id", "Anna", "--display-name", "Anna A.")
                == .userLogin(userId: "Anna", displayName: "Anna A.", authToken: nil)
        )
    }

    @Test func `with Sinch the command prints a registration token and is optional`() throws {
        #expect(
            try credential(.sinch, token[0], token[1])
                == .registration(userId: "app-anna", token: SecretText("token of app-anna"))
        )
        #expect(try credential(.sinch, "--user-id", "Anna") == .registration(userId: "Anna", token: nil))
    }

    @Test func `with OAuth the command prints a token, and without it there is a device sign-in`() throws {
        #expect(try credential(.oauth) == .device)
        #expect(try credential(.oauth, token[0], token[1]) == .refreshToken(SecretText("token of app-anna")))
        #expect(
            try credential(.oauth, token[0], token[1], "--subject-token-type", "jwt")
                == .tokenExchange(
                    subjectToken: SecretText("token of app-anna"),
                    subjectTokenType: "urn:ietf:params:oauth:token-type:jwt"
                )
        )
    }

    @Test(
        arguments: [
            (.junction, []), (.junction, ["--token-command", "echo t", "--user-id", "u"]),
            (.junction, ["--token-command", "echo t", "--display-name", "n"]), (.sinch, ["--display-name", "n"]),
            (.oauth, ["--user-id", "u"]), (.oauth, ["--subject-token-type", "jwt"]),
        ] as [(Provider, [String])]
    )
    func `an option that the provider does not take is refused`(provider: Provider, options: [String]) throws {
        let command = try IdentifyCommand.parse(["app-anna"] + options)

        let error = #expect(throws: CommandFailure.self) { try command.credential(for: "app-anna", of: provider) }

        #expect(error?.status == .usage)
    }

    @Test func `without the right to ask for the provider it is Junction, and other errors are thrown`() throws {
        #expect(try Provider.orUsual { .sinch } == .sinch)
        #expect(try Provider.orUsual { throw JunctionError(.permissionDenied, "no") } == .junction)
        #expect(throws: JunctionError.self) { try Provider.orUsual { throw JunctionError(.timedOut, "no") } }
    }

    @Test(arguments: [
        [], [""], ["--none", "anna"], ["--none", "--token-command", "true"], ["--none", "--user-id", "u"],
        ["anna", "--user-id", ""], ["--token-command", "true"],
        ["--none", "--device"], ["anna", "--device", "--token-command", "true"],
        ["anna", "--device", "--user-id", "u"],
    ])
    func `an id together with --none is refused, and neither of them as well`(arguments: [String]) {
        #expect(throws: (any Error).self) { try IdentifyCommand.parse(arguments) }
    }
}
