import Foundation
import JunctionTesting
import Testing

/// Runs the shell recipes of the README unchanged.
@Suite struct ReadmeTests {
    @Test(.needsCurl)
    func `the shell recipe works with only junctionctl, curl and sed`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        let block = try Self.recipe()
        for tool in ["jq", "socat"] { #expect(!block.contains(tool)) }
        let api = "https://api.example.com/me"
        #expect(block.contains(api))
        let script = block.replacing(api, with: "\(installation.cloud.url)/v2/user/\(user)")
        try installation.folder.write("\(user)\n", to: "user-id")

        let ending = try run(script, in: installation)

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
        let recipe = try Self.recipe().split(separator: "\n")
            .filter { $0.contains("USER_ID") }.joined(separator: "\n")

        let ending = try run(recipe, in: installation)

        #expect(ending.status == 1)
        #expect(ending.output == "switch-needed\n")
    }

    /// Runs commands in the folder of the installation, with only the programs that the recipe needs.
    private func run(_ script: String, in installation: Installation) throws -> Program.Ending {
        let tools = try Self.tools(in: installation.folder)
        return try Program(
            "/bin/sh",
            ["-c", "cd '\(installation.folder.path)'\n\(script)"],
            in: installation.folder,
            environment: ["PATH": tools, "JUNCTIOND_SOCKET": installation.socket]
        ).wait()
    }

    private static func recipe() throws -> String {
        try #require(try Guide.shellBlocks(of: "README.md").first { $0.contains("token --header") })
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
