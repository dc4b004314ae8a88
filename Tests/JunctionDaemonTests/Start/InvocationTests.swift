import Testing

@testable import JunctionDaemon

/// The daemon's command line. `getopt_long` has global state, so one test runs at a time.
@Suite(.serialized) struct InvocationTests {
    @Test func `an empty command line serves with the defaults`() throws {
        #expect(try Invocation([]) == .serve(Arguments()))
    }

    @Test(arguments: [
        ["--config", "a", "--socket", "b", "--state-dir", "c"], ["--config=a", "--sock=b", "--state=c", "--"],
    ])
    func `a path may follow its option or an equals sign`(words: [String]) throws {
        #expect(try Invocation(words) == .serve(Arguments(configuration: "a", socket: "b", stateDirectory: "c")))
    }

    @Test func `an option that is given twice has its last value`() throws {
        let words = ["--check-config", "--config", "a", "--config", "b=c"]
        #expect(try Invocation(words) == .checkConfiguration(Arguments(configuration: "b=c")))
    }

    @Test(arguments: [["--help"], ["-h"], ["--config", "a", "-h", "extra"]])
    func `an option for help shows the help text`(words: [String]) throws {
        #expect(try Invocation(words) == .showHelp)
    }

    @Test func `the option --version shows the version`() throws {
        #expect(try Invocation(["--version"]) == .showVersion)
    }

    @Test(arguments: [
        (["--config"], "Missing value for '--config <file>'"),
        (["--config", "--check-config"], "Missing value for '--config <file>'"),
        (["--state-dir", "-x"], "Missing value for '--state-dir <dir>'"),
        (["--socket", ""], "'--socket <path>' needs a path"),
        (["--config="], "'--config <file>' needs a path"),
        (["--check-config=true"], "the option '--check-config' does not take any value"),
        (["--help=1"], "the option '--help' does not take any value"),
        (["--config", "a", "--nope"], "unknown option at position 3"),
        (["--c", "a"], "unknown option at position 1"),
        (["-x"], "unknown option at position 1"),
        (["-k"], "unknown option at position 1"),
        (["-v=1"], "unknown option at position 1"),
        (["---x"], "unknown option at position 1"),
        (["--café"], "unknown option at position 1"),
        (["extra"], "unexpected argument at position 1 (not shown, for it may be a secret)"),
        (["-"], "unexpected argument at position 1 (not shown, for it may be a secret)"),
        ([""], "unexpected argument at position 1 (not shown, for it may be a secret)"),
        (["--config", "a", "b", "--help"], "unexpected argument at position 3 (not shown, for it may be a secret)"),
        (["--", "--config"], "unexpected argument at position 2 (not shown, for it may be a secret)"),
    ])
    func `a wrong word is refused with its position and not repeated`(words: [String], message: String) {
        do throws(UsageError) {
            Issue.record("\(words) is \(try Invocation(words))")
        } catch {
            #expect(error.text.hasPrefix("Error: \(message)\nUSAGE: junctiond ["), "\(error.text)")
        }
    }
}
