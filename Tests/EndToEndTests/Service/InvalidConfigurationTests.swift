import Foundation
import JunctionTesting
import Testing

/// Tests that an invalid configuration stops the start with the cause, the place and the expected value.
@Suite struct InvalidConfigurationTests {
    /// An invalid file with the expected words of the error.
    struct Mistake: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var lines: [String]
        var words: [String]
    }

    /// `StrictnessTests` has all mistakes.
    static let mistakes = [
        Mistake(
            testDescription: "an unknown key",
            lines: ["[renewal]", "mode = \"automatic\"", "postponefor = 700"],
            words: [":3", "renewal.postponefor", "unknown key", "postponeFor"]
        ),
        Mistake(testDescription: "no TOML at all", lines: ["provider = "], words: [":1"]),
        Mistake(
            testDescription: "plain http to another machine",
            lines: ["[junction]", "authUrl = \"http://auth.example.com\""],
            words: ["junction.authUrl", "https"]
        ),
    ]

    @Test(arguments: mistakes)
    func `a mistake stops the start with its place and the expected value`(mistake: Mistake) throws {
        let folder = TemporaryFolder()
        let file = try folder.write(mistake.lines.joined(separator: "\n") + "\n", to: "junctiond.toml")
        let state = folder.path + "/state"

        for check in [["--check-config"], ["--socket", folder.path + "/s", "--state-dir", state]] {
            let ending = try Program("junctiond", ["--config", file] + check, in: folder).wait()
            #expect(ending.status == 78)
            #expect(ending.output == "")
            #expect(ending.errors.split(separator: "\n").count == 1)
            #expect(ending.errors.hasPrefix("junctiond: "))
            for word in [file] + mistake.words { #expect(ending.errors.contains(word), "\(word): \(ending.errors)") }
        }
        #expect(!FileManager.default.fileExists(atPath: state))
    }

    @Test func `an environment variable overrides the file, and an error names it`() throws {
        let installation = try Installation(configuration: "[api]\nexpose = false")
        try installation.startDaemon(["JUNCTIOND_API_EXPOSE": "true"])
        let user = try installation.signInNewUser()
        let call: Object = ["method": "GET", "path": "/v2/user/\(user)"]
        #expect(try installation.connect().call("api.request", call)["status"] as? Int == 200)

        let ending = try installation.checkConfiguration(environment: ["JUNCTIOND_API_EXPOSE": "perhaps"])

        #expect(ending.status == 78)
        #expect(ending.errors.contains("JUNCTIOND_API_EXPOSE"))
    }

    @Test(arguments: ["junctiond", "junctionctl"])
    func `a program prints its version and its usage`(program: String) throws {
        let folder = TemporaryFolder()

        let version = try Program(program, ["--version"], in: folder).wait()
        let help = try Program(program, ["--help"], in: folder).wait()

        #expect(version.status == 0)
        #expect(version.output.contains(/[0-9]+\.[0-9]+\.[0-9]+/))
        #expect(help.status == 0)
        #expect(help.output.contains("USAGE: \(program)"))
    }

    @Test func `a state directory that cannot be created ends the start with 73`() throws {
        let folder = TemporaryFolder()
        let file = try folder.write("", to: "junctiond.toml")
        let plain = try folder.write("x", to: "plain")

        let ending = try Program(
            "junctiond",
            ["--config", file, "--socket", folder.path + "/s", "--state-dir", plain + "/state"],
            in: folder
        ).wait()

        #expect(ending.status == 73)
        #expect(ending.errors.contains(plain))
    }

    @Test func `a socket path that is too long ends the start with 73`() throws {
        let folder = TemporaryFolder()
        let file = try folder.write("", to: "junctiond.toml")
        let path = folder.path + "/" + String(repeating: "x", count: 120)

        let ending = try Program(
            "junctiond",
            ["--config", file, "--socket", path, "--state-dir", folder.path + "/state"],
            in: folder
        ).wait()

        #expect(ending.status == 73)
        #expect(ending.errors.contains("107"))
    }
}
