import Foundation
import JunctionTesting
import Testing

/// Tests that no program repeats a secret that a user passes as an unexpected argument.
///
/// The command lines are generated from each program's own description of its verbs and options, so that none is
/// missing.
struct UnexpectedArgumentTests {
    /// A text that looks like a token and is on no help page.
    private static let marker = "eyJtYXJrZXIiOiJzZWNyZXQifQ.c2lnbmF0dXJl"

    /// Options whose value may be shown: names of users and of instances, and commands whose shell prints its own messages.
    private static let shown = ["--user-id", "--display-name", "--instance", "--token-command", "--exec"]

    @Test func `no verb of junctionctl repeats an argument that it did not expect`() throws {
        let installation = try Installation.started()
        let marker = Self.marker
        let api = ["api", "GET", "/v2/user/:userId"]
        let special = [
            ["rpc", marker], ["rpc", "session.status", marker], ["rpc", "session.signIn", marker],
            ["api", "GET", marker],
            ["api", "GET", "/x?\(marker)=%ZZ"], ["api", "GET", "/x?a=1&a=\(marker)"],
            ["api", "GET", "/x?\(marker)&\(marker)"],
            api + ["--header", marker], api + ["--header", ":\(marker)"], ["help", marker], ["status", "--", marker],
            ["--generate-completion-script", marker], ["--generate-completion-script=\(marker)"],
            ["sign-in", "--api-key-file", marker, "--environment", "sandbox", "--region", "us"],
            ["sign-in", "--subject-token-file", marker, "--subject-token-type", "jwt"],
            ["sign-in", "--user-id", "u", "--auth-token-file", marker],
            ["sign-in", "--user-id", "u", "--registration-token-file", marker],
            ["sign-in", "--user-id", "u", "--registration-signature-file", marker], api + ["--data", marker],
            ["doctor", "--bundle", "--config", marker], ["doctor", "--config", marker, "--socket", "/nowhere"],
        ]
        let documents = (special + Self.odd(marker)).map { ["--json"] + $0 }
        let table = try special + documents + Self.commandLines(of: "junctionctl", in: installation.folder)

        for line in table {
            let ending = try installation.ctl(line)

            #expect(!ending.output.contains(marker), "\(line): \(ending.output)")
            #expect(!ending.errors.contains(marker), "\(line): \(ending.errors)")
            #expect(!ending.wasKilled, "\(line)")
        }
        #expect(table.count > 200)
    }

    /// Swift repairs such text, so two user ids could become one.
    @Test func `an argument that is not UTF-8 is refused before any call`() throws {
        let folder = TemporaryFolder()
        let script = #"exec "$0" identify "$(printf 'j\374rgen')" --token-command 'touch ran'"#
        let ending = try Program("/bin/sh", ["-c", script, Program.path(of: "junctionctl")], in: folder).wait()
        #expect(ending.status == 64 && ending.errors.contains("argument 2 is not UTF-8"), "\(ending.errors)")
    }

    @Test func `the sandbox does not repeat an unexpected argument`() throws {
        let folder = TemporaryFolder()
        let table = try Self.commandLines(of: "junction-sandbox", in: folder).map { line in
            // Prevent a valid command line from starting a sandbox.
            line.contains("serve") && !line.contains("--listen") ? line + ["--listen", "nowhere"] : line
        }
        let tokens = ["mint", "verify"].map { verb in
            ["\(verb)-registration-token", "--application-key", "k", "--secret-file", Self.marker]
        }

        for line in table + tokens.map({ $0 + ["--user", "u"] }) + tokens {
            let ending = try Program("junction-sandbox", line, in: folder).wait()

            #expect(!ending.output.contains(Self.marker), "\(line): \(ending.output)")
            #expect(!ending.errors.contains(Self.marker), "\(line): \(ending.errors)")
            #expect(!ending.wasKilled, "\(line)")
        }
        #expect(table.count > 40)
    }

    @Test func `the daemon does not repeat an unexpected argument`() throws {
        let folder = TemporaryFolder()
        let marker = Self.marker
        let options = ["--config", "--socket", "--state-dir"].flatMap { [[$0, "x", marker], ["\($0)x", marker]] }
        let table =
            Self.odd(marker) + options + [["--check-config=\(marker)"], ["--", marker], ["--config", "--\(marker)"]]

        for line in table {
            let ending = try Program("junctiond", line, in: folder).wait()

            #expect(ending.status == 64, "\(line)")
            #expect(!ending.output.contains(marker), "\(line): \(ending.output)")
            #expect(!ending.errors.contains(marker), "\(line): \(ending.errors)")
        }
    }

    @Test func `a usage error gives the position of the argument`() throws {
        let folder = TemporaryFolder()

        let ending = try Program("junctionctl", ["sign-in", Self.marker], in: folder).wait()
        let daemon = try Program("junctiond", ["--config", "x", Self.marker], in: folder).wait()
        let file = try Program("junctionctl", ["token", "--min-validity", Self.marker], in: folder).wait()

        #expect(ending.status == 64)
        #expect(
            ending.errors == """
                junctionctl: unexpected argument at position 2 (not shown, for it may be a secret) (usage): \
                see 'junctionctl sign-in --help'

                """
        )
        #expect(daemon.errors.hasPrefix("Error: unexpected argument at position 3"), "\(daemon.errors)")
        #expect(file.errors.contains("the value of '--min-validity <seconds>' is invalid"), "\(file.errors)")
    }

    // MARK: The table

    /// Returns command lines with the marker in every unexpected position of each verb.
    private static func commandLines(of program: String, in folder: TemporaryFolder) throws -> [[String]] {
        let dump = try Program(program, ["--experimental-dump-help"], in: folder).wait().json()
        let root = try #require(dump["command"] as? [String: Any])
        let verbs = (root["subcommands"] as? [[String: Any]] ?? []).filter { $0["commandName"] as? String != "help" }
        return odd(marker) + verbs.flatMap(lines)
    }

    private static func lines(of verb: [String: Any]) -> [[String]] {
        let name = [verb["commandName"] as? String ?? ""]
        let arguments = verb["arguments"] as? [[String: Any]] ?? []
        let places = arguments.filter { $0["kind"] as? String == "positional" }.map { _ in "x" }
        // A verb with valid arguments could run and wait forever.
        var lines = (odd(marker) + [["--", marker]]).map { name + places + $0 }
        for argument in arguments {
            for option in (argument["names"] as? [[String: Any]] ?? []).compactMap(written) {
                if argument["kind"] as? String == "flag" {
                    lines.append(name + ["\(option)=\(marker)"])
                } else if !shown.contains(option) {
                    lines += [name + places + [option, marker], name + places + ["\(option)=\(marker)"]]
                }
            }
        }
        // `wait` would wait for a missing socket.
        return name == ["wait"] ? lines.map { $0 + ["--timeout", "0"] } : lines
    }

    /// Returns the written form of an option, such as `--socket` or `-h`.
    private static func written(_ name: [String: Any]) -> String? {
        guard let letters = name["name"] as? String else { return nil }
        return (name["kind"] as? String == "long" ? "--" : "-") + letters
    }

    /// Returns arguments that no program accepts.
    private static func odd(_ marker: String) -> [[String]] {
        [
            [marker], [marker, marker], ["-\(marker)"], ["--\(marker)"], ["---\(marker)"], ["--\(marker)=\(marker)"],
            ["--x=\(marker)"], ["-x=\(marker)"], ["-x", marker], ["--nope", marker],
        ]
    }
}
