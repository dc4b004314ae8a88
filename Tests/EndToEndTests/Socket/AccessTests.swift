import Foundation
import JunctionTesting
import Testing

/// Tests of callers that are other users of the machine. Only root can act as another user.
@Suite(
    .enabled("only root can act as another user") { geteuid() == 0 },
    .enabled("setpriv is not installed") { SystemPrograms.has(SystemPrograms.setpriv) }
)
struct AccessTests {
    @Test func `another user cannot connect to a socket of mode 0600`() throws {
        let installation = try Installation.started()

        let ending = try Stranger(installation).ctl("status")

        #expect(ending.status == 77)
        #expect(ending.errors.hasPrefix("junctionctl: "))
        #expect(ending.errors.contains("permissionDenied"))
    }

    @Test func `without an access entry another user has no rights`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()
        let stranger = try Stranger(installation)
        try stranger.openSocket()

        for verb in [["status"], ["token"], ["sign-out"], ["metrics"], ["renew"], ["api", "GET", "/v2/providers"]] {
            let ending = try stranger.ctl(verb)
            #expect(ending.status == 77, "\(verb)")
            #expect(ending.output == "", "\(verb)")
        }

        #expect(try installation.status().state == "established")
    }

    @Test func `an access entry gives exactly the rights that it names`() throws {
        let installation = try Installation.started(
            configuration: "[[access]]\nallow = [\"status\"]\nuser = \"\(Stranger.name)\""
        )
        try installation.signInNewUser()
        let stranger = try Stranger(installation)
        try stranger.openSocket()

        #expect(try stranger.ctl(["status"]).status == 0)
        #expect(try stranger.ctl(["metrics"]).status == 0)
        let token = try stranger.ctl(["token"])
        #expect(token.status == 77)
        #expect(token.errors.contains("'token'"))
        #expect(try stranger.ctl(["sign-out"]).status == 77)
        #expect(try stranger.ctl(["doctor"]).status == 77)
    }

    @Test func `a member of the socket's group is told why it has no rights, and which entry gives them`() throws {
        let installation = try Installation.started(
            configuration: "[[access]]\nallow = [\"status\"]\nuser = \"daemon\""
        )
        let user = try installation.signInNewUser()
        let stranger = try Stranger(installation)
        try stranger.openSocket()

        let refused = try stranger.ctl(["token"], groups: "root")
        // The advised entry gives the right.
        installation.configuration += "\n[[access]]\nallow = [\"token\"]\nuser = \"\(Stranger.identifier)\""
        try installation.restartDaemon()
        try stranger.openSocket()

        #expect(refused.status == 77)
        #expect(
            refused.errors.contains("there are [[access]] entries, so the socket's group gives nothing"),
            "\(refused.errors)"
        )
        #expect(refused.errors.contains("'allow = [\"token\"]' and 'user = \"\(Stranger.identifier)\"'"))
        #expect(!refused.errors.contains(user))
        #expect(try stranger.ctl(["token"], groups: "root").status == 0)
    }

    @Test func `a missing right is reported before invalid parameters`() throws {
        let installation = try Installation.started(
            configuration: "[[access]]\nallow = [\"status\"]\nuser = \"\(Stranger.name)\""
        )
        let stranger = try Stranger(installation)
        try stranger.openSocket()

        let ending = try stranger.ctl(["token", "--min-validity", "1e12"])
        let garbage = try stranger.ctl(["sign-in"], input: "nonsense")

        #expect(ending.status == 77)
        #expect(garbage.status == 77)
    }

    @Test func `an access entry applies to supplementary groups`() throws {
        let installation = try Installation.started(
            configuration: "[[access]]\nallow = [\"status\", \"token\"]\ngroup = \"daemon\""
        )
        try installation.signInNewUser()
        let stranger = try Stranger(installation)
        try stranger.openSocket()

        #expect(try stranger.ctl(["token"]).status == 77)
        #expect(try stranger.ctl(["token"], groups: "daemon").status == 0)
        #expect(try stranger.ctl(["sign-out"], groups: "daemon").status == 77)
    }

    @Test func `an entry for an unknown user gives the socket's group no rights`() throws {
        let installation = try Installation.started(
            configuration: "[[access]]\nallow = [\"status\"]\nuser = \"no-such-user\""
        )
        try installation.signInNewUser()
        let stranger = try Stranger(installation)
        try stranger.openSocket()

        for verb in [["status"], ["token"], ["renew"], ["api", "GET", "/v2/providers"]] {
            let ending = try stranger.ctl(verb, groups: "root")
            #expect(ending.status == 77, "\(verb)")
            #expect(ending.output == "", "\(verb)")
        }
        let checks = try installation.ctl("doctor")
        #expect(checks.status == 1)
        #expect(checks.output.contains("access[0] matches nobody: there is no user \"no-such-user\" on this machine"))
    }

    @Test func `a reload changes the rights of connected callers`() throws {
        let access = "[[access]]\nallow = [\"status\"]\nuser = \"\(Stranger.name)\""
        let installation = try Installation(configuration: access)
        let notify = try installation.startDaemon()
        let stranger = try Stranger(installation)
        try stranger.openSocket()
        let watch = try stranger.watch()
        #expect(try watch.object().state == "notLoggedIn")

        installation.configuration = ""
        try installation.writeConfiguration()
        installation.daemon?.signal(SIGHUP)
        try notify.wait(for: "READY=1")

        #expect(try stranger.ctl(["status"]).status == 77)
    }
}
