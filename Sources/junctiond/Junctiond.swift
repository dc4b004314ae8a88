import CLinux
import Glibc
import JunctionDaemon

/// The entry point of the daemon.
///
/// `main` is synchronous on purpose: an asynchronous one starts a thread pool that wakes up once a second.
@main
enum Junctiond {
    static func main() {
        // Standard error must not write to a file of the session.
        _ = clinux_occupy_standard_descriptors()
        _ = clinux_keep_one_heap()
        exit(status(of: Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    private static func status(of words: [String]) -> ExitStatus {
        do throws(UsageError) {
            switch try Invocation(words) {
            case .serve(let arguments):
                return Daemon.run(arguments, in: ProcessEnvironment.current())
            case .checkConfiguration(let arguments):
                return check(arguments, in: ProcessEnvironment.current())
            case .showHelp:
                print(UsageText.page)
            case .showVersion:
                print("\(Version.name) \(Version.number)")
            }
            return .success
        } catch {
            StandardError.explain(error)
            return .usage
        }
    }

    private static func check(_ arguments: Arguments, in environment: ProcessEnvironment) -> ExitStatus {
        let check = ConfigurationCheck(arguments, in: environment)
        for note in check.notes { StandardError.say(note) }
        if check.status == .success {
            print(check.verdict)
        } else {
            StandardError.say(check.verdict)
        }
        return check.status
    }
}
