import Foundation
import JunctionTesting
import Testing

/// Tests of callers that are other users of the machine. Only root can act as another user.
@Suite(.needsOtherUser)
struct OtherUserAccessTests {
    @Test func `another user cannot connect to a socket of mode 0600`() throws {
        let installation = try Installation.started()

        let ending = try OtherUser(installation).ctl("status")

        #expect(ending.status == 77)
        #expect(ending.errors.hasPrefix("junctionctl: "))
        #expect(ending.errors.contains("permissionDenied"))
    }

    @Test func `without an access entry another user has no rights`() throws {
        let (installation, otherUser) = try OtherUser.installation(configuration: "")
        try installation.signInNewUser()

        for verb in [["status"], ["token"], ["sign-out"], ["metrics"], ["renew"], ["api", "GET", "/v2/providers"]] {
            let ending = try otherUser.ctl(verb)
            #expect(ending.status == 77, "\(verb)")
            #expect(ending.output == "", "\(verb)")
        }

        #expect(try installation.status().state == "established")
    }

    @Test func `an access entry gives exactly the rights that it names`() throws {
        let (installation, otherUser) = try OtherUser.installation(configuration: OtherUser.entry(allowing: "status"))
        try installation.signInNewUser()

        #expect(try otherUser.ctl(["status"]).status == 0)
        #expect(try otherUser.ctl(["metrics"]).status == 0)
        let token = try otherUser.ctl(["token"])
        #expect(token.status == 77)
        #expect(token.errors.contains("'token'"))
        #expect(try otherUser.ctl(["sign-out"]).status == 77)
        #expect(try otherUser.ctl(["doctor"]).status == 77)
    }

    @Test func `doctor needs no other capability than manage`() throws {
        let (installation, otherUser) = try OtherUser.installation(configuration: OtherUser.entry(allowing: "manage"))
        try installation.signInNewUser()

        #expect(try otherUser.ctl(["status"]).status == 77)
        let doctor = try otherUser.ctl(["doctor"])
        #expect(doctor.status != 77, "\(doctor.output)")
        #expect(doctor.output.contains("stored session"))
    }

    @Test func `a member of the socket's group is told why it has no rights, and which entry gives them`() throws {
        let (installation, otherUser) = try OtherUser.installation(
            configuration: "[[access]]\nallow = [\"status\"]\nuser = \"daemon\""
        )
        let user = try installation.signInNewUser()

        let refused = try otherUser.ctl(["token"], groups: "root")
        // The advised entry gives the right.
        installation.configuration += "\n[[access]]\nallow = [\"token\"]\nuser = \"\(OtherUser.identifier)\""
        try installation.restartDaemon()
        try otherUser.openSocket()

        #expect(refused.status == 77)
        #expect(
            refused.errors.contains("there are [[access]] entries, so the socket's group gives nothing"),
            "\(refused.errors)"
        )
        #expect(refused.errors.contains("'allow = [\"token\"]' and 'user = \"\(OtherUser.identifier)\"'"))
        #expect(!refused.errors.contains(user))
        #expect(try otherUser.ctl(["token"], groups: "root").status == 0)
    }

    @Test func `an entry for an unknown user gives the socket's group no rights`() throws {
        let (installation, otherUser) = try OtherUser.installation(
            configuration: "[[access]]\nallow = [\"status\"]\nuser = \"no-such-user\""
        )
        try installation.signInNewUser()

        for verb in [["status"], ["token"], ["renew"], ["api", "GET", "/v2/providers"]] {
            let ending = try otherUser.ctl(verb, groups: "root")
            #expect(ending.status == 77, "\(verb)")
            #expect(ending.output == "", "\(verb)")
        }
        let checks = try installation.ctl("doctor")
        #expect(checks.status == 1)
        #expect(checks.output.contains("access[0] matches nobody: there is no user \"no-such-user\" on this machine"))
    }
}
