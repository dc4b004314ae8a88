import JunctionText
import Testing

/// The text of a usage error, in place of the argument parser's message, which quotes the command line.
struct UsageErrorTextTests {
    private static let help = "USAGE: tool verb [--timeout <seconds>] [--token-file <file>] [--json]"

    @Test(arguments: [
        (
            "Unexpected argument 'SECRET'", ["verb", "SECRET"],
            "unexpected argument at position 2 (not shown, for it may be a secret)"
        ),
        (
            "2 unexpected arguments: 'a', 'SECRET'", ["verb", "a", "--json", "SECRET"],
            "unexpected arguments at positions 2 and 4 (not shown, for it may be a secret)"
        ),
        ("Unknown option '--SECRET'", ["verb", "--SECRET=x"], "unknown option at position 2"),
        (
            "Unknown option '--token-fil'. Did you mean '--token-file'?", ["verb", "--json", "--token-fil", "SECRET"],
            "unknown option at position 3; did you mean '--token-file'?"
        ),
        ("Unknown option '-S'", ["verb", "-xS"], "unknown option at position 2"),
        (
            "Unknown option '-SECRET'\n   or: Missing value for '-S <s>' in '-SECRET'", ["verb", "-SECRET"],
            "unknown option at position 2"
        ),
        ("Invalid option: ---SECRET", ["verb", "---SECRET"], "malformed option at position 2"),
        (
            "The option '--json' does not take any value, but 'SECRET' was specified.", ["verb", "--json=SECRET"],
            "the option '--json' does not take any value"
        ),
        (
            "The value 'SECRET' is invalid for '--timeout <seconds>'", ["verb", "--timeout", "SECRET"],
            "the value of '--timeout <seconds>' is invalid"
        ),
        (
            "The value 'SECRET' is invalid for '--timeout <seconds>'. Please provide one of 'a', 'b' or 'c'.", [],
            "the value of '--timeout <seconds>' is invalid; it is one of 'a', 'b' or 'c'"
        ),
        (
            "Can't generate completion scripts for 'SECRET'.\nPlease use", ["--generate-completion-script=SECRET"],
            "--generate-completion-script takes bash, zsh or fish"
        ),
        ("Missing value for '--timeout <seconds>'", ["verb", "--timeout"], "Missing value for '--timeout <seconds>'"),
        (
            "these options are of different ways to sign in", ["verb", "SECRET"],
            "these options are of different ways to sign in"
        ),
    ])
    func `a usage error names the option or the position`(message: String, words: [String], text: String) {
        #expect(UsageErrorText(message, about: words, help: Self.help).text == text)
    }

    @Test func `words that occur twice have no certain position`() {
        let complaint = UsageErrorText(
            "Unexpected argument 'x'",
            about: ["verb", "--token-file", "x", "x"],
            help: Self.help
        )

        #expect(complaint.text == "unexpected argument (not shown, for it may be a secret)")
    }

    @Test(arguments: [
        "The value 'x' is invalid for '--SECRET <a>' is invalid for '--SECRET'",
        "The option '--SECRET' does not take any value, but 'x' was specified.",
        "Unknown option '--x'. Did you mean '--SECRET'?",
        "Unexpected argument 'The value 'SECRET''",
        "2 unexpected arguments: 'The', 'SECRET'",
    ])
    func `a name that is on no help page is not repeated`(message: String) {
        #expect(!UsageErrorText(message, about: ["SECRET"], help: Self.help).text.contains("SECRET"))
    }
}
