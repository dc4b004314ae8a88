import ArgumentParser
import JunctionClient
import JunctionProtocol

struct ReconcileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reconcile",
        abstract: "Says whether the expected user is signed in, and changes nothing.",
        discussion: """
            Prints in-sync, sign-in-needed, sign-out-needed, switch-needed, reauthentication-needed \
            (the same user, who has to sign in again) or migration-needed (the same user, whose session \
            uses an API key). A session that the provider has ended counts as nobody. \
            Ends with exit code 0 for in-sync, and with 1 for the others.
            """
    )

    @OptionGroup var expected: ExpectedUser
    @OptionGroup var options: GlobalOptions

    func run() throws {
        let params = SessionReconcile.Params(userId: expected.userId)
        let result = try options.ask(SessionReconcile.self, params)
        try options.show(result) { $0.action.verdict }
        let storage = result.value.snapshot.storage
        if !storage.isReadable {
            StandardError.note("no token can be had: \(storage.reason ?? storage.status.rawValue)")
        }
        try end(result.value.action == .none ? .done : .refused)
    }
}

/// The user that an app expects to be signed in.
struct ExpectedUser: ParsableArguments {
    @Option(help: ArgumentHelp("The user as the provider names them.", valueName: "uuid"))
    var userId: String?

    @Flag(help: "Nobody.")
    var none = false

    func validate() throws {
        guard (userId != nil) != none else { throw ValidationError("give either --user-id or --none") }
    }
}

extension ReconcileResult.Action {
    /// The word for scripts.
    var verdict: String {
        switch self {
        case .none: "in-sync"
        case .signIn: "sign-in-needed"
        case .signOut: "sign-out-needed"
        case .switch: "switch-needed"
        case .reauthenticate: "reauthentication-needed"
        case .migrate: "migration-needed"
        default: rawValue
        }
    }
}
