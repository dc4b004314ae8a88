import Foundation
import JunctionTesting
import Testing

/// Tests of `junctionctl credential git` with git and git-http-backend below nginx.
@Suite(
    .enabled("git, nginx, fcgiwrap, python3 or openssl is not installed") {
        ["git", "nginx", "fcgiwrap", "python3"].allSatisfy(SystemPrograms.isInPath) && TestAuthority.isAvailable
    }
)
struct GitCredentialTests {
    private let installation: Installation
    private let server: CredentialServer

    init() throws {
        installation = try Installation.started()
        let authority = try TestAuthority(in: installation.folder)
        let folder = try authority.certificate().copied(to: installation.folder.makeFolder("server"))
        server = try CredentialServer(.git, for: installation, folder)
        // The guide's command, for the test's server.
        let command = try #require(try CredentialGuide.blocks(of: "git").first)
        let made = try installation.shell(
            """
            set -e
            git init -q --bare server/repositories/app.git
            git -C server/repositories/app.git config http.receivepack true
            git init -q -b main work && cd work && echo hello >README
            git -c user.name=a -c user.email=a@example.com add README
            git -c user.name=a -c user.email=a@example.com commit -q -m first
            git push -q ../server/repositories/app.git main
            git -C ../server/repositories/app.git symbolic-ref HEAD refs/heads/main
            git config --global http.sslCAInfo '\(authority.file)'
            \(command.replacing("git.example.com", with: server.authority))
            """
        )
        try #require(made.status == 0, "\(made.errors)")
    }

    private func clone(_ folder: String) throws -> Program.Ending {
        let command = try CredentialGuide.use(of: "git").replacing("git.example.com", with: server.authority)
        return try installation.shell("\(command) \(folder)")
    }

    @Test func `git clones and pushes with the token of the session`() throws {
        try installation.signInNewUser()
        try server.acceptPresentToken()

        let cloned = try clone("copy")
        let pushed = try installation.shell(
            """
            cd copy && echo more >>README
            git -c user.name=a -c user.email=a@example.com commit -q -a -m second && git push -q
            git -C ../server/repositories/app.git log --format=%s main
            """
        )

        #expect(cloned.status == 0, "\(cloned.errors)")
        #expect(pushed.output == "second\nfirst\n", "\(pushed.errors)")
        #expect(try server.request { $0.hasPrefix("POST /app.git/git-receive-pack") }.hasSuffix(" 200 oauth2"))
        // The token is in no file of git's.
        let token = try #require(try installation.token())
        #expect(try installation.shell("grep -rl \(token) copy work .gitconfig").output == "")
    }

    @Test func `a refused token is renewed, and the next command succeeds`() throws {
        // The daemon's clock is behind at the sign-in, so that the token is older than ten seconds.
        try installation.stopDaemon()
        let time = try ShiftedTime(installation)
        time.setWall(by: .seconds(-60))
        try installation.startDaemon()
        try installation.signInNewUser()
        time.setWall(by: .seconds(60))
        let old = try #require(try installation.token())
        try server.accept("another")

        let refused = try clone("refused")

        #expect(refused.status == 128)
        #expect(try server.request { $0.hasSuffix(" 401 oauth2") }.contains("/app.git/info/refs"))
        #expect(try installation.token() != old)
        try server.acceptPresentToken()
        #expect(try clone("copy").status == 0)
    }

    @Test func `a password that is not the present token renews nothing`() throws {
        try installation.signInNewUser()
        let token = try installation.token()

        let ending = try installation.client(
            "junctionctl",
            ["credential", "git", "erase", "--host", "git.example.com"],
            input: "protocol=https\nhost=git.example.com\nusername=oauth2\npassword=old\n"
        )

        #expect((ending.output, ending.errors, ending.status) == ("", "", 0))
        #expect(try installation.token() == token)
    }

    @Test func `with nobody signed in git says so and ends with its own code`() throws {
        let ending = try clone("copy")

        #expect(ending.status == 128)
        #expect(ending.errors.contains(signedOutMessage), "\(ending.errors)")
        #expect(ending.errors.contains("could not read Username"), "\(ending.errors)")
    }

    @Test func `a URL of another host gets no token`() throws {
        try installation.signInNewUser()
        let request = "protocol=https\nhost=evil.example.com\n\n"

        // A helper without a URL is asked about every host.
        let ending = try installation.client(
            "junctionctl",
            ["credential", "git", "get", "--host", server.authority],
            input: request
        )

        #expect((ending.output, ending.errors, ending.status) == ("", "", 0))
    }

    @Test func `a request may have bytes that are no UTF-8`() throws {
        try installation.signInNewUser()
        let request = #"protocol=https\nhost=git.example.com\npath=caf\351.git\n\n"#

        let ending = try installation.shell(
            "printf '\(request)' | junctionctl credential git get --host git.example.com"
        )

        #expect(ending.output.hasPrefix("username=oauth2\npassword="), "\(ending.errors)")
    }

    @Test func `the user name is that of the URL, or of --username`() throws {
        try installation.signInNewUser()
        let words = ["credential", "git", "get", "--host", "git.example.com"]
        let request = "protocol=https\nhost=git.example.com\n"

        let named = try installation.client("junctionctl", words, input: request + "username=alice\n")
        let given = try installation.client("junctionctl", words + ["--username", "bob"], input: request)

        #expect(named.output.hasPrefix("username=alice\npassword="))
        #expect(given.output.hasPrefix("username=bob\npassword="))
        #expect(given.output.contains("\npassword_expiry_utc="))
    }

    @Test func `store and unknown requests have no effect`() throws {
        for request in ["store", "capability"] {
            let words = ["credential", "git", request, "--host", "git.example.com"]
            let ending = try installation.client("junctionctl", words, input: "protocol=https\nhost=git.example.com\n")
            #expect((ending.output, ending.errors, ending.status) == ("", "", 0))
        }
    }
}
