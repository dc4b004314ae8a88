import Foundation
import JunctionTesting
import Testing

/// Tests of sign-ins with a backend's answer as Junction documents it, and with link codes as users type them.
@Suite struct BackendAnswerTests {
    @Test(arguments: ["standard input", "--token-file", "--token-command"])
    func `the backend's answer signs its user in`(source: String) throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let answer = try answer(for: user, in: installation)
        let file = try installation.folder.write(answer, to: "answer")

        let ending =
            switch source {
            case "--token-file": try installation.ctl("sign-in", "--token-file", file, "--json")
            case "--token-command":
                try installation.ctl("identify", "app-alice", "--token-command", "cat '\(file)'", "--json")
            default: try installation.ctl("sign-in", "--json", input: answer + "\n")
            }

        #expect(ending.status == 0, "\(ending.errors)")
        #expect(try installation.status().userId == user)
    }

    @Test func `a user_id that differs from the token's user is refused before any call`() throws {
        let installation = try Installation.started()
        let (alice, bob) = (try installation.cloud.makeUser("alice"), try installation.cloud.makeUser("bob"))
        let answer = try answer(for: alice, named: bob, in: installation)
        let file = try installation.folder.write(answer, to: "answer")

        let signIn = try installation.ctl("sign-in", input: answer)
        let identify = try installation.ctl("identify", "app-bob", "--token-command", "cat '\(file)'")

        for ending in [signIn, identify] {
            #expect(ending.status == 1)
            #expect(ending.errors.contains("The user_id beside the token is not \(alice)"))
            #expect(ending.errors.contains("(invalidCredential): "))
        }
        #expect(try installation.cloud.counter("tokenRequests") == 0)
        #expect(try installation.status().state == "notLoggedIn")
    }

    @Test func `a link code on standard input of a plain sign-in names the option that it needs`() throws {
        let installation = try Installation.started()
        let code = try installation.cloud.linkCode(for: installation.cloud.makeUser())

        let ending = try installation.ctl("sign-in", input: code)

        #expect(ending.status == 1)
        #expect(ending.errors.contains("This is a link code, not a Sign-In Token"))
        #expect(ending.errors.contains("junctionctl sign-in --link-code"))
        #expect(!ending.errors.contains("get a new token"))
        #expect(!ending.errors.contains(code))
    }

    private func answer(for user: String, named name: String? = nil, in installation: Installation) throws -> String {
        let token = try installation.cloud.signInToken(for: user)
        return "{\n  \"user_id\": \"\(name ?? user)\",\n  \"sign_in_token\": \"\(token)\"\n}"
    }
}
