import CLinux
import Glibc
import JunctionDaemon

/// The entry point of the daemon: arguments in, exit code out.
///
/// `main` is synchronous on purpose: an asynchronous one starts a thread pool that wakes up once a second for ever.
@main
enum Junctiond {
    static func main() {
        // No file of the session must be what standard error writes to.
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
