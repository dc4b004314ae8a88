import Foundation
import JunctionTesting
import Testing

/// Runs the shell recipes of the README unchanged.
@Suite struct ReadmeTests {
    @Test(.enabled(if: SystemPrograms.has("/usr/bin/curl")))
    func `the shell recipe works with only junctionctl, curl and sed`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        let block = try Self.block(containing: "token --header")
        for tool in ["jq", "socat"] { #expect(!block.contains(tool)) }
        let api = "https://api.example.com/me"
        #expect(block.contains(api))
        let script = block.replacing(api, with: "\(installation.cloud.url)/v2/user/\(user)")
        try installation.folder.write("\(user)\n", to: "user-id")

        let ending = try Program(
            "/bin/sh",
            ["-c", "cd '\(installation.folder.path)'\n\(script)"],
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

    @Test func `the shell recipe detects that another user is signed in`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()
        try installation.folder.write("\(UUID().uuidString.lowercased())\n", to: "user-id")
        let recipe = try Self.block(containing: "token --header").split(separator: "\n")
            .filter { $0.contains("USER_ID") }.joined(separator: "\n")

        let ending = try Program(
            "/bin/sh",
            ["-c", "cd '\(installation.folder.path)'\n\(recipe)"],
            in: installation.folder,
            environment: [
                "PATH": try Self.tools(in: installation.folder), "JUNCTIOND_SOCKET": installation.socket,
            ]
        ).wait()

        #expect(ending.status == 1)
        #expect(ending.output == "switch-needed\n")
    }

    private static func block(containing words: String) throws -> String {
        let readme = try String(contentsOfFile: Program.root + "/README.md", encoding: .utf8)
        let blocks = readme.components(separatedBy: "\n```").filter { $0.hasPrefix("sh\n") }
        return String(try #require(blocks.first { $0.contains(words) }).dropFirst("sh\n".count))
    }

    /// Creates a folder for `$PATH` that contains only these programs.
    private static func tools(in folder: TemporaryFolder) throws -> String {
        let path = try folder.makeFolder("tools")
        for tool in ["/usr/bin/curl", "/bin/sed", Program.path(of: "junctionctl")] {
            let name = URL(fileURLWithPath: tool).lastPathComponent
            try FileManager.default.createSymbolicLink(atPath: path + "/" + name, withDestinationPath: tool)
        }
        return path
    }
}
