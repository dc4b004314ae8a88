import ArgumentParser
import Glibc
import JunctionClient
import JunctionText

extension Junctionctl {
    /// Ends the program with one line on standard error, or with the help page that the user asked for.
    ///
    /// - Parameters:
    ///   - words: the command line. The type is not generic on purpose: in a specialization, Swift 6.3's optimizer
    ///     releases the error before it is used.
    ///   - verb: the verb, if the command line was parsed so far.
    static func end(with error: any Error, of words: ArraySlice<String>, in verb: String? = nil) -> Never {
        let page = verb.map { "junctionctl \($0) --help" } ?? CommandFailure.help
        switch error {
        case let error as JunctionError:
            end(with: CommandFailure(error), of: words, helpedBy: page)
        case let failure as CommandFailure:
            end(with: failure, of: words, helpedBy: page)
        case let code as ExitCode:
            Glibc.exit(code.rawValue)
        default:
            if words.first == "help", let verb = words.dropFirst().first, !verb.hasPrefix("-"), !isVerb(verb) {
                end(with: CommandFailure(usage: "there is no such verb"), of: words, helpedBy: CommandFailure.help)
            }
            guard exitCode(for: error) == .validationFailure else { endHelping(with: error, words) }
            let complaint = UsageErrorText(message(for: error), about: Array(words), help: wholeHelp)
            end(
                with: CommandFailure(usage: complaint.text),
                of: words,
                helpedBy: verb == nil ? HelpPage.named(by: fullMessage(for: error)) ?? page : page
            )
        }
    }

    private static func isVerb(_ word: String) -> Bool {
        word == "help"
            || configuration.subcommands.contains {
                $0.configuration.commandName == word || $0.configuration.aliases.contains(word)
            }
    }

    /// Prints a help page, or other output that the user asked for instead of a verb.
    private static func endHelping(with error: any Error, _ words: ArraySlice<String>) -> Never {
        let page = fullMessage(for: error)
        guard SignInHelp.isMeant(by: page), let provider = GlobalOptions.provider(whoCalls: words) else {
            exit(withError: error)
        }
        print(SignInHelp.arranged(page, for: provider))
        Glibc.exit(exitCode(for: error).rawValue)
    }

    /// All help pages, which contain the name of every verb and option.
    private static var wholeHelp: String {
        ([Self.self] + configuration.subcommands).map { helpMessage(for: $0) }.joined()
    }

    private static func end(
        with failure: CommandFailure,
        of words: ArraySlice<String>,
        helpedBy page: String
    ) -> Never {
        if isCalledByDocker {
            // Docker shows standard output, and knows no other exit code.
            try? StandardOutput.line(failure.line(helpedBy: page))
            Glibc.exit(ExitStatus.refused.rawValue)
        }
        if words.asksForJSON {
            StandardError.json { failure.write(to: &$0, helpedBy: page) }
        } else {
            StandardError.line(failure.line(helpedBy: page))
        }
        Glibc.exit(failure.status.rawValue)
    }
}

/// The help page for a wrong command line.
enum HelpPage {
    /// Returns the page that the argument parser names: `See 'junctionctl token --help' for more …`.
    static func named(by message: String) -> String? {
        for line in message.split(separator: "\n") {
            let parts = line.split(separator: "'", omittingEmptySubsequences: false)
            if parts.count == 3, parts[0].hasSuffix("See "), parts[1].hasSuffix(" --help") { return String(parts[1]) }
        }
        return nil
    }
}

extension ArraySlice<String> {
    /// Whether the output is for a program, even if the rest of the command line is wrong.
    fileprivate var asksForJSON: Bool { prefix { $0 != "--" }.contains("--json") }
}
