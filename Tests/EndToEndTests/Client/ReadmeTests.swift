import Foundation
import JunctionTesting
import Testing

/// What the README prints for shell scripts, run as it stands there.
@Suite struct ReadmeTests {
    @Test(.enabled(if: SystemPrograms.has("/usr/bin/curl")))
    func `the recipe for a shell script works with nothing but junctionctl, curl and sed`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        let block = try Self.block(containing: "token --header")
        for tool in ["jq", "socat"] { #expect(!block.contains(tool)) }
        let api = "https://api.example.com/me"
        #expect(block.contains(api))
        let script = block.replacing(api, with: "\(installation.cloud.url)/v2/user/\(user)")

        let ending = try Program(
            "/bin/sh",
            ["-c", script],
            in: installation.folder,
            environment: [
                "PATH": try Self.tools(in: installation.folder), "JUNCTIOND_SOCKET": installation.socket,
            ]
        ).wait()

        #expect(ending.status == 0, "\(ending.errors)")
        #expect(ending.errors == "")
        #expect(ending.output.contains(user))
        #expect(ending.output.contains("in-sync\n"))
        #expect(ending.output.contains(#""state":"established""#))
        #expect(!ending.output.contains("ended with"))
    }

    @Test func `the user id that a page uses is set where it is used`() throws {
        var uses = 0
        for text in ["README.md", "packaging/man/junctionctl.1"] {
            let content = try String(contentsOfFile: Program.root + "/" + text, encoding: .utf8)
            guard let use = content.range(of: "$USER_ID") else { continue }
            uses += 1
            #expect(
                content[..<use.lowerBound].contains("USER_ID=$(junctionctl status | sed -n 's/^user  *//p')"),
                "\(text)"
            )
        }
        #expect(uses > 0)
    }

    private static func block(containing words: String) throws -> String {
        let readme = try String(contentsOfFile: Program.root + "/README.md", encoding: .utf8)
        let blocks = readme.components(separatedBy: "\n```").filter { $0.hasPrefix("sh\n") }
        return String(try #require(blocks.first { $0.contains(words) }).dropFirst("sh\n".count))
    }

    /// A `$PATH` with nothing else in it.
    private static func tools(in folder: TemporaryFolder) throws -> String {
        let path = try folder.makeFolder("tools")
        for tool in ["/usr/bin/curl", "/bin/sed", Program.path(of: "junctionctl")] {
            let name = URL(fileURLWithPath: tool).lastPathComponent
            try FileManager.default.createSymbolicLink(atPath: path + "/" + name, withDestinationPath: tool)
        }
        return path
    }
}
