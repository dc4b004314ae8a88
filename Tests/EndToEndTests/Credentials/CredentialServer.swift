import Foundation
import JunctionTesting
import Testing

/// A server of `Shims/credential-servers`, which accepts one token.
final class CredentialServer {
    enum Kind: String { case git, registry, kubernetes, go, smtp, imap }

    let port: String
    private let kind: Kind
    private let program: RunningProgram
    private let installation: Installation

    /// - Parameter more: the folder that this kind of server needs.
    init(_ kind: Kind, for installation: Installation, _ more: String...) throws {
        (self.kind, self.installation) = (kind, installation)
        let token = try installation.folder.write("none", to: "accepted")
        program = try RunningProgram(
            Program.root + "/Tests/EndToEndTests/Shims/credential-servers",
            [kind.rawValue, token] + more,
            in: installation.folder
        )
        port = try #require(try program.lines.next(), "\(program.program.errors)")
    }

    var authority: String { "127.0.0.1:\(port)" }

    /// Accepts the present token of the session from now on.
    func acceptPresentToken() throws {
        try accept(try #require(try installation.token()))
    }

    func accept(_ token: String) throws {
        try installation.folder.write(kind == .git ? "oauth2:{PLAIN}\(token)" : token, to: "accepted")
    }

    /// Returns the next request that fits.
    func request(_ fits: (String) -> Bool) throws -> String {
        while let line = try program.lines.next() {
            if fits(line) { return line }
        }
        throw TestFailure(description: "The server has ended: \(program.program.errors)")
    }
}

/// The page `docs/credential-helpers.md`.
enum CredentialGuide {
    private static func text(of section: String) throws -> String {
        let page = try Guide.text(of: "docs/credential-helpers.md")
        return try #require(page.components(separatedBy: "\n## ").first { $0.hasPrefix("\(section)\n") })
    }

    /// The command in a section's row "use".
    static func use(of section: String) throws -> String {
        String(try #require(try text(of: section).firstMatch(of: /\| use \| `([^`]*)`/)).1)
    }

    /// The blocks of a section, without their fences.
    static func blocks(of section: String) throws -> [String] {
        try text(of: section).components(separatedBy: "\n```").enumerated().filter { $0.offset % 2 == 1 }.map {
            String($1[($1.firstIndex(of: "\n") ?? $1.startIndex)...].dropFirst()) + "\n"
        }
    }
}

extension Installation {
    /// Runs a program that finds `junctionctl`, and docker's name for it, in its `PATH`.
    func client(
        _ program: String,
        _ arguments: [String],
        input: String? = nil,
        environment: [String: String] = [:]
    ) throws -> Program.Ending {
        try Program(
            program,
            arguments,
            in: folder,
            environment: try clientEnvironment.merging(environment) { $1 },
            input: input
        )
        .wait()
    }

    func shell(_ script: String, input: String? = nil, environment: [String: String] = [:]) throws -> Program.Ending {
        try client(
            "/bin/sh",
            ["-c", "cd '\(folder.path)'\n\(script)"],
            input: input,
            environment: environment
        )
    }

    private var clientEnvironment: [String: String] {
        get throws {
            let tools = folder.path + "/tools"
            if !FileManager.default.fileExists(atPath: tools) {
                try folder.makeFolder("tools")
                for name in ["junctionctl", "docker-credential-junction"] {
                    try FileManager.default.createSymbolicLink(
                        atPath: "\(tools)/\(name)",
                        withDestinationPath: Program.path(of: "junctionctl")
                    )
                }
            }
            let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
            return ["PATH": "\(tools):\(path)", "JUNCTIOND_SOCKET": socket, "GIT_TERMINAL_PROMPT": "0"]
        }
    }
}

extension TestAuthority.Certificate {
    /// Copies the files under the names that the server expects, and returns the folder.
    func copied(to folder: String) throws -> String {
        try FileManager.default.copyItem(atPath: chain, toPath: folder + "/chain")
        try FileManager.default.copyItem(atPath: key, toPath: folder + "/key")
        return folder
    }
}

extension SystemPrograms {
    /// Whether a program is in the `PATH`.
    static func isInPath(_ name: String) -> Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains { has("\($0)/\(name)") }
    }

    static let hasPython = isInPath("python3")
}

/// The message when no user is signed in, which the guide shows.
let signedOutMessage = "junctionctl: Nobody is signed in: sign in first (notSignedIn): run 'junctionctl sign-in'"
