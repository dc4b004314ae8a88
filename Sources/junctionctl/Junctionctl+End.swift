import ArgumentParser
import Glibc
import JunctionClient
import JunctionText

extension Junctionctl {
    /// Ends the program: with one line on standard error, unless the user asked for help.
    ///
    /// - Parameters:
    ///   - words: the command line. No generic sequence: specialized for one, Swift 6.3's optimizer releases the error before it is
    ///     looked at.
    ///   - verb: what was being done, if that was understood.
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
            guard exitCode(for: error) == .validationFailure else { endHelping(with: error, words) }
            let complaint = UsageComplaint(message(for: error), about: Array(words), help: wholeHelp)
            end(
                with: CommandFailure(usage: complaint.text),
                of: words,
                helpedBy: verb == nil ? HelpPage.named(by: fullMessage(for: error)) ?? page : page
            )
        }
    }

    /// Prints a page of help, or whatever else the user asked for instead of a verb.
    private static func endHelping(with error: any Error, _ words: ArraySlice<String>) -> Never {
        let page = fullMessage(for: error)
        guard SignInHelp.isMeant(by: page), let provider = GlobalOptions.provider(whoCalls: words) else {
            exit(withError: error)
        }
        print(SignInHelp.arranged(page, for: provider))
        Glibc.exit(exitCode(for: error).rawValue)
    }

    /// All pages of help, which have every name of a verb and an option.
    private static var wholeHelp: String {
        ([Self.self] + configuration.subcommands).map { helpMessage(for: $0) }.joined()
    }

    private static func end(
        with failure: CommandFailure,
        of words: ArraySlice<String>,
        helpedBy page: String
    ) -> Never {
        if words.asksForJSON {
            StandardError.json { failure.write(to: &$0, helpedBy: page) }
        } else {
            StandardError.line(failure.line(helpedBy: page))
        }
        Glibc.exit(failure.status.rawValue)
    }
}

/// The page of help about what was got wrong.
enum HelpPage {
    /// The one that the argument parser names, which knows how far it came: `See 'junctionctl token --help' for more …`.
    static func named(by message: String) -> String? {
        for line in message.split(separator: "\n") {
            let parts = line.split(separator: "'", omittingEmptySubsequences: false)
            if parts.count == 3, parts[0].hasSuffix("See "), parts[1].hasSuffix(" --help") { return String(parts[1]) }
        }
        return nil
    }
}

extension ArraySlice<String> {
    /// Whether answers and errors are for a program, also where the rest of the line makes no sense.
    fileprivate var asksForJSON: Bool { prefix { $0 != "--" }.contains("--json") }
}
