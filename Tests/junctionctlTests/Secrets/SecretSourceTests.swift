import Glibc
import JunctionClient
import JunctionProtocol
import JunctionTesting
import Testing

@testable import junctionctl

/// The sources of secrets.
struct SecretSourceTests {
    @Test(arguments: ["token", " token\n", "\r\n\ttoken \n\n"])
    func `the white space around a secret is not part of it`(content: String) throws {
        let secret = try temporaryFile(Array(content.utf8)) {
            try SecretSource.file($0, option: "--token-file").read("token")
        }

        #expect(secret == SecretText("token"))
    }

    @Test func `a secret above the length limit is refused`() throws {
        let longest = [UInt8](repeating: UInt8(ascii: "x"), count: SecretText.longest)

        let secret = try temporaryFile(longest) { try SecretSource.file($0, option: "--token-file").read("token") }
        #expect(secret.count == SecretText.longest)

        let failure = #expect(throws: CommandFailure.self) {
            try temporaryFile(longest + [UInt8(ascii: "x")]) {
                try SecretSource.file($0, option: "--token-file").read("token")
            }
        }
        #expect(failure?.remedy?.hasPrefix("check that this is the right input") == true)
    }

    @Test(arguments: ["", " \n"])
    func `an empty file holds no secret`(content: String) throws {
        let error = #expect(throws: CommandFailure.self) {
            try temporaryFile(Array(content.utf8)) { try SecretSource.file($0, option: "--token-file").read("API key") }
        }

        #expect(error?.what == "the API key cannot be read: there is none")
        #expect(error?.status == .usage)
    }

    @Test(arguments: [[0xFF, 0xFE, 0x41], [0x1F, 0x8B, 0x08, 0x00], [0x74, 0xC3], [0xED, 0xA0, 0x80]] as [[UInt8]])
    func `a secret that is not UTF-8 is refused`(content: [UInt8]) throws {
        let error = #expect(throws: CommandFailure.self) {
            try temporaryFile(content) { try SecretSource.file($0, option: "--token-file").read("Sign-In Token") }
        }

        #expect(error?.what == "the Sign-In Token cannot be read: it is no text in UTF-8")
        #expect(error?.kind == "secretUnreadable")
        #expect(error?.remedy?.hasPrefix("give the Sign-In Token itself") == true)
    }

    @Test func `the error about a missing file names the option and not the path`() {
        let error = #expect(throws: CommandFailure.self) {
            try SecretSource.file("/no/such", option: "--token-file").read("token")
        }

        #expect(error?.what == "the file given to --token-file cannot be read: No such file or directory")
    }

    @Test func `the output of a command is the secret, and the command gets its variables`() throws {
        let command = ShellCommand(line: #"printf ' t-%s-%s\n' "$WHO" "$HOME""#, variables: ["WHO": "joe's \"id\""])

        let secret = try command.secretOutput("token")

        #expect(secret == SecretText("t-joe's \"id\"-" + (getenv("HOME").map { String(cString: $0) } ?? "")))
    }

    @Test func `a given variable replaces one of the environment`() throws {
        let secret = try ShellCommand(line: "echo $HOME", variables: ["HOME": "mine"]).secretOutput("token")

        #expect(secret == SecretText("mine"))
    }

    @Test(arguments: [
        ("echo t; exit 4", "exit code 4"), ("kill -9 $$", "signal 9"), ("exec /no/such 2>&-", "exit code 127"),
    ])
    func `a failing command gives no secret`(line: String, reason: String) {
        let error = #expect(throws: CommandFailure.self) { try ShellCommand(line: line).secretOutput("token") }

        #expect(error?.kind == "tokenCommandFailed")
        #expect(error?.what.contains(reason) == true)
    }

    @Test func `a command that prints nothing gives an error`() {
        for line in ["true", "echo", "printf ' \\n'"] {
            let error = #expect(throws: CommandFailure.self) { try ShellCommand(line: line).secretOutput("token") }

            #expect(error?.kind == "tokenCommandFailed")
            #expect(error?.what == "the token command failed: it printed nothing")
            // The remedy must not suggest standard input, because the command is the source.
            #expect(error?.remedy?.contains("standard input") == false)
        }
    }

    @Test func `a command that prints invalid text gives an error`() {
        let error = #expect(throws: CommandFailure.self) {
            try ShellCommand(line: #"printf '\377'"#).secretOutput("token")
        }

        #expect(error?.kind == "tokenCommandFailed")
        #expect(error?.what.contains("UTF-8") == true)
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            "sleep 60", "exec sleep 60", "echo t; exec >&-; sleep 60", "trap '' TERM; sleep 60; echo t",
            "sleep 60 & echo t",
        ]
    )
    func `a command is killed at the deadline, and the error names the command`(line: String) {
        let command = ShellCommand(line: line, deadline: .after(.milliseconds(200)))

        let error = #expect(throws: CommandFailure.self) { try command.secretOutput("token") }

        #expect(error?.what == "the token command failed: it was not done in time")
        #expect(error?.remedy?.contains("--timeout") == true)
        #expect(error?.status == .temporary)
    }

    @Test func `a command with endless output is ended`() {
        let error = #expect(throws: CommandFailure.self) { try ShellCommand(line: "exec yes").secretOutput("token") }

        #expect(error?.kind == "tokenCommandFailed")
        #expect(error?.what.contains("longer than") == true)
    }
}

/// Creates a file with this content for the duration of `body`.
func temporaryFile<Result>(_ content: [UInt8], _ body: (String) throws -> Result) throws -> Result {
    let folder = TemporaryFolder()
    let file = try folder.write(content, to: "secret")
    return try withExtendedLifetime(folder) { try body(file) }
}
