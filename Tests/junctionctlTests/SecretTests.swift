import Glibc
import JunctionClient
import JunctionProtocol
import JunctionTesting
import Testing

@testable import junctionctl

/// Where secrets come from.
struct SecretTests {
    @Test(arguments: ["token", " token\n", "\r\n\ttoken \n\n"])
    func `the white space around a secret is not part of it`(content: String) throws {
        let secret = try temporaryFile(Array(content.utf8)) {
            try SecretSource.file($0, option: "--token-file").read("token")
        }

        #expect(secret == SecretText("token"))
    }

    @Test func `a secret may be as long as the bound, and no longer`() throws {
        let longest = [UInt8](repeating: UInt8(ascii: "x"), count: SecretText.longest)

        let secret = try temporaryFile(longest) { try SecretSource.file($0, option: "--token-file").read("token") }
        #expect(secret.count == SecretText.longest)

        #expect(throws: CommandFailure.self) {
            try temporaryFile(longest + [UInt8(ascii: "x")]) {
                try SecretSource.file($0, option: "--token-file").read("token")
            }
        }
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
    func `what is no text is refused here, and not by the daemon as a line that is no JSON`(content: [UInt8]) throws {
        let error = #expect(throws: CommandFailure.self) {
            try temporaryFile(content) { try SecretSource.file($0, option: "--token-file").read("Sign-In Token") }
        }

        #expect(error?.what == "the Sign-In Token cannot be read: it is no text in UTF-8")
        #expect(error?.kind == "secretUnreadable")
        #expect(error?.remedy?.hasPrefix("give the Sign-In Token itself") == true)
    }

    @Test func `a file that is not there is named by its option, because the path may be a secret`() {
        let error = #expect(throws: CommandFailure.self) {
            try SecretSource.file("/no/such", option: "--token-file").read("token")
        }

        #expect(error?.what == "the file given to --token-file cannot be read: No such file or directory")
    }

    @Test func `a command's output is the secret, and it finds its variables`() throws {
        let command = ShellCommand(line: #"printf ' t-%s-%s\n' "$WHO" "$HOME""#, variables: ["WHO": "joe's \"id\""])

        let secret = try command.secretOutput("token")

        #expect(secret == SecretText("t-joe's \"id\"-" + (getenv("HOME").map { String(cString: $0) } ?? "")))
    }

    @Test func `a variable of ours replaces one that is there`() throws {
        let secret = try ShellCommand(line: "echo $HOME", variables: ["HOME": "mine"]).secretOutput("token")

        #expect(secret == SecretText("mine"))
    }

    @Test(arguments: [
        ("echo t; exit 4", "exit code 4"), ("kill -9 $$", "signal 9"), ("exec /no/such 2>&-", "exit code 127"),
    ])
    func `a command that fails has no secret, whatever it printed`(line: String, reason: String) {
        let error = #expect(throws: CommandFailure.self) { try ShellCommand(line: line).secretOutput("token") }

        #expect(error?.kind == "tokenCommandFailed")
        #expect(error?.what.contains(reason) == true)
    }

    @Test func `a command that prints nothing has no secret`() {
        for line in ["true", "echo", "printf ' \\n'"] {
            let error = #expect(throws: CommandFailure.self) { try ShellCommand(line: line).secretOutput("token") }

            #expect(error?.kind == "tokenCommandFailed")
            #expect(error?.what == "the token command failed: it printed nothing")
            // Nothing is to be given in another way: the command is to print it.
            #expect(error?.remedy?.contains("standard input") == false)
        }
    }

    @Test func `a command that prints what is no secret is told so`() {
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
    func `a command that is not done by the deadline is ended, and it is said that it was the command`(line: String) {
        let command = ShellCommand(line: line, deadline: .after(.milliseconds(200)))

        let error = #expect(throws: CommandFailure.self) { try command.secretOutput("token") }

        #expect(error?.what == "the token command failed: it was not done in time")
        #expect(error?.remedy?.contains("--timeout") == true)
        #expect(error?.status == .temporary)
    }

    @Test func `a command that never stops printing is ended`() {
        let error = #expect(throws: CommandFailure.self) { try ShellCommand(line: "exec yes").secretOutput("token") }

        #expect(error?.kind == "tokenCommandFailed")
        #expect(error?.what.contains("longer than") == true)
    }
}

/// A file with this content, for the length of `body`.
func temporaryFile<Result>(_ content: [UInt8], _ body: (String) throws -> Result) throws -> Result {
    let folder = TemporaryFolder()
    let file = try folder.write(content, to: "secret")
    return try withExtendedLifetime(folder) { try body(file) }
}
