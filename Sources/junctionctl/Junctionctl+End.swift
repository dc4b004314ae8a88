import ArgumentParser
import Glibc
import JunctionClient

extension Junctionctl {
    /// Ends the program: with one line on standard error, unless the user asked for help.
    static func end(with error: any Error) -> Never {
        switch error {
        case let error as JunctionError:
            end(with: CommandFailure(error))
        case let failure as CommandFailure:
            StandardError.line(failure.line)
            Glibc.exit(failure.status.rawValue)
        case let code as ExitCode:
            Glibc.exit(code.rawValue)
        default:
            guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
            end(with: CommandFailure(usage: message(for: error)))
        }
    }
}

extension CommandFailure {
    /// Arguments that make no sense.
    init(usage what: String) {
        self.init(what, kind: "usage", remedy: "see 'junctionctl --help'", status: .usage)
    }
}
