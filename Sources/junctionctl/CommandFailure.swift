import JunctionClient
import JunctionJSON

/// Why a verb failed, and what the user can do.
struct CommandFailure: Error, Equatable {
    var what: String
    /// One word for scripts.
    var kind: String
    /// Nil if the remedy is the verb's help page.
    var remedy: String?
    var status: ExitStatus
    /// The error of the daemon or of the connection, if that is the cause.
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

    /// Creates an error about wrong arguments.
    ///
    /// - Parameter remedy: nil for the verb's help page.
    init(usage what: String, remedy: String? = nil) {
        self.what = what
        self.remedy = remedy
        kind = "usage"
        status = .usage
    }

    /// The line for standard error.
    var line: String { line(helpedBy: Self.help) }

    /// Returns the line with the given help page.
    func line(helpedBy page: String) -> String {
        "junctionctl: \(what.onOneLine) (\(kind.onOneLine)): \((remedy ?? "see '\(page)'").onOneLine)"
    }

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

    /// The command that prints the general help.
    static let help = "junctionctl --help"
}

extension JunctionError {
    /// Writes the error's members, in their form on the wire.
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
