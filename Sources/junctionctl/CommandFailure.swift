import JunctionClient
import JunctionJSON

/// Why a verb did not do what it was asked, and what the user can do.
struct CommandFailure: Error, Equatable {
    var what: String
    /// One word that a script may look for.
    var kind: String
    /// Nothing where it is the verb's page of help.
    var remedy: String?
    var status: ExitStatus
    /// The daemon's error, or that of the way to it, where it was one.
    private var cause: JunctionError?

    init(_ what: String, kind: String, remedy: String, status: ExitStatus = .refused) {
        self.what = what
        self.kind = kind
        self.remedy = remedy
        self.status = status
    }

    init(_ error: JunctionError) {
        what = error.message
        kind = error.kind.rawValue
        remedy = error.remedy
        status = ExitStatus(error)
        cause = error
    }

    /// Arguments that make no sense.
    init(usage what: String) {
        self.what = what
        kind = "usage"
        status = .usage
    }

    /// The one line on standard error.
    var line: String { line(helpedBy: Self.help) }

    /// The same where it is known which page of help is called for.
    func line(helpedBy page: String) -> String {
        "junctionctl: \(what.onOneLine) (\(kind.onOneLine)): \((remedy ?? "see '\(page)'").onOneLine)"
    }

    /// The same for programs.
    func write(to writer: inout JSONWriter, helpedBy page: String) {
        writer.object { writer in
            writer.object("error") { writer in
                writer.member("kind", kind)
                writer.member("message", what)
                writer.member("remedy", remedy ?? "see '\(page)'")
                writer.member("exitCode", Int(status.rawValue))
                cause?.write(to: &writer)
            }
        }
    }

    /// The page of help about everything.
    static let help = "junctionctl --help"
}

extension JunctionError {
    /// What programs can act on, as it stood on the wire.
    fileprivate func write(to writer: inout JSONWriter) {
        if let code { writer.member("code", code) }
        if let retryAfter { writer.member("retryAfter", retryAfter / .seconds(1)) }
        writer.member("userId", ifPresent: userId)
        if let termination {
            writer.object("termination") { writer in
                writer.member("code", termination.code)
                writer.member("message", termination.message)
                writer.member("at", "\(termination.at)")
            }
        }
        writer.member("capability", ifPresent: capability)
        if let maximum { writer.member("maximum", maximum / .seconds(1)) }
    }
}
