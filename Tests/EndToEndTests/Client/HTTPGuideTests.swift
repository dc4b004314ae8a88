import Foundation
import JunctionTesting
import Testing

/// Runs the commands of docs/http.md unchanged, except for the path of the socket.
@Suite(.needsCurl)
struct HTTPGuideTests {
    private static let socket = "/run/junctiond/api.sock"

    private func run(_ command: String, in installation: Installation) throws -> Program.Ending {
        let shown = command.replacing(Self.socket, with: installation.apiSocket)
        #expect(shown != command, "\(command) asks somewhere else")
        let checked = shown.replacing("curl ", with: "curl --fail --silent --show-error ")
        return try Program("/bin/sh", ["-c", checked], in: installation.folder).wait()
    }

    @Test func `every command prints what the page shows`() throws {
        let installation = try Installation.withHTTP()
        let user = try installation.signInNewUser()
        let commands = try Guide.shellBlocks(of: "docs/http.md").flatMap { $0.split(separator: "\n") }.map(String.init)
        #expect(commands.count >= 5)

        for command in commands {
            guard !command.contains("/.junction/events") else {
                let shown = command.replacing(Self.socket, with: installation.apiSocket)
                let listener = try RunningProgram("/bin/sh", ["-c", "exec \(shown)"], in: installation.folder)
                #expect(try DaemonPageTests.event(listener).userId == user)
                continue
            }
            let ending = try run(command, in: installation)
            #expect(ending.status == 0, "\(command): \(ending.errors)")
            #expect(try ending.json().isEmpty == false, "\(command)")
        }
    }

    @Test func `the timer's service writes the metrics to the collector's folder`() throws {
        let installation = try Installation.withHTTP()
        let unit = try #require(
            try Guide.text(of: "docs/http.md").firstMatch(of: /ExecStart=(\/bin\/sh -c [^\n]*\\\n[^\n]*)/)
        )
        let place = try #require(unit.1.firstMatch(of: #/[^ ]*/junctiond\.prom/#)?.0)
        let file = installation.folder.fresh("junctiond.prom")

        let ending = try run(String(unit.1).replacing(place, with: file), in: installation)

        #expect(ending.status == 0, "\(ending.errors)")
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains("# TYPE junctiond_"))
        #expect(!FileManager.default.fileExists(atPath: file + ".tmp"))
    }

    @Test func `every error kind on the page is one of the daemon's, with its status`() throws {
        let rows = try Guide.text(of: "docs/http.md").matches(of: /\n\| ([0-9]{3}) \| ([^|]*) \|/)
        #expect(rows.count > 10)
        let installation = try Installation.withHTTP()
        let document = try installation.api().ask("/.junction/openapi.json").json()
        let kinds = document.strings("components", "schemas", "Problem", "properties", "kind", "enum")
        #expect(kinds.count > 10)
        for row in rows {
            for kind in row.2.matches(of: /`([A-Za-z]+)`/) { #expect(kinds.contains(String(kind.1)), "\(kind.1)") }
        }
    }
}

extension [String: Any] {
    /// Returns the strings of an array at a path of keys.
    fileprivate func strings(_ path: String...) -> Set<String> {
        var value: Any? = self
        for step in path { value = (value as? Object)?[step] }
        return Set(value as? [String] ?? [])
    }
}
