import Foundation
import JunctionTesting
import Testing

/// Runs the recipes of docs/sandbox.md that need more than one curl command, unchanged.
@Suite(.needsCurl)
struct SandboxGuideTests {
    private func run(_ script: String, in installation: Installation) throws -> Program.Ending {
        let prelude = "set -e; cd '\(installation.folder.path)'; S=\(installation.cloud.url)\n"
        // The guide uses a fixed socket path.
        let script = script.replacing("/tmp/junctiond.sock", with: installation.socket)
        return try Program(
            "/bin/sh",
            ["-c", prelude + script],
            in: installation.folder,
            environment: ["PATH": Program.folder + ":/usr/bin:/bin"]
        ).wait()
    }

    @Test func `the example in the guide signs Anna in with curl and sed`() throws {
        let installation = try Installation.started()
        let story = try #require(try Guide.shellBlocks(of: "docs/sandbox.md").first { $0.contains("ANNA=") })
        let address = "S=http://127.0.0.1:8787\n"
        #expect(story.hasPrefix(address))
        #expect(!story.contains("jq"))

        let ending = try run(story.dropFirst(address.count) + "\necho \"$ANNA\"", in: installation)

        #expect(ending.status == 0, "\(ending.errors)")
        let user = try #require(ending.output.split(separator: "\n").last.map(String.init))
        #expect(try installation.status().userId == user)
    }

    @Test(
        .enabled("python3 or openssl is not installed") {
            SystemPrograms.has("/usr/bin/python3") && SystemPrograms.has("/usr/bin/openssl")
        }
    )
    func `an OAuth client with a key is registered from the key file`() throws {
        let installation = try Installation.started()
        let recipe = try #require(
            try Guide.text(of: "docs/sandbox.md").firstMatch(of: /\n(python3 -c [^\n]*\n[^\n]*)\n/)
        ).1
        let key = "openssl ecparam -genkey -noout -name prime256v1 | openssl ec -pubout -out public.pem 2>/dev/null\n"

        let ending = try run(key + recipe, in: installation)

        #expect(ending.status == 0, "\(ending.errors)")
        #expect(try ending.json()["error"] == nil)
        #expect(try installation.cloud.sandbox("GET", "oauth/clients").description.contains("keyed"))
    }
}
