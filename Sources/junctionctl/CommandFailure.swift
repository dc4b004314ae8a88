import JunctionClient

/// Why a verb did not do what it was asked, and what the user can do.
struct CommandFailure: Error, Equatable {
    var what: String
    /// One word that a script may look for.
    var kind: String
    var remedy: String
    var status: ExitStatus

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
    }

    /// The one line on standard error.
    var line: String {
        "junctionctl: \(what.onOneLine) (\(kind.onOneLine)): \(remedy.onOneLine)"
    }
}

extension JunctionError {
    /// What to do about it, for somebody at a terminal.
    var remedy: String {
        if let retryAfter {
            return "try again in \(max(1, retryAfter.wholeSeconds(.up))) s"
        }
        return switch kind {
        case .alreadySignedIn: "run 'junctionctl sign-out' first, or switch with 'junctionctl identify'"
        case .invalidCredential: "get a new token, code or key and sign in with that"
        case .notSignedIn: "run 'junctionctl sign-in'"
        case .reauthenticationRequired: "run 'junctionctl sign-in' with a new token for the same user"
        case .sessionTerminated: "the account is closed at the provider; sign in as somebody else"
        case .providerUnavailable: "nothing is lost; the daemon keeps trying, see 'junctionctl doctor'"
        case .permissionDenied: "ask for access: the socket's group, or an [[access]] entry of the configuration"
        case .incompatibleCredential: "run 'junctionctl sign-out' first"
        case .storageUnavailable: "run 'junctionctl doctor'"
        case .tokenExpired: "see 'junctionctl status' for the next attempt, or run 'junctionctl renew'"
        case .busy: "let some of this user's requests finish first"
        case .unsupported: "see 'junctionctl status' for the provider and the scheme"
        case .invalidParams:
            maximum.map { "at most \($0.wholeSeconds(.down)) s is possible" } ?? "see the verb's --help"
        case .methodNotFound: "the daemon is older than this program: update it"
        case .daemonUnreachable: "start junctiond, or name its socket with --socket"
        case .connectionLost: "see 'junctionctl status' for what became of it"
        case .localFailure: "raise the limits of this shell or service ('ulimit -a'), or free memory"
        case .invalidSocketPath: "correct --socket or $JUNCTIOND_SOCKET"
        case .requestTooLarge: "send less"
        case .timedOut: "wait longer, or see 'junctionctl status'"
        default: "see 'junctionctl doctor'"
        }
    }
}

extension Duration {
    fileprivate func wholeSeconds(_ rule: FloatingPointRoundingRule) -> Int64 {
        // A wire duration is below 1e15 seconds, so it fits.
        Int64((self / .seconds(1)).rounded(rule))
    }
}

extension String {
    /// The same without line breaks and whatever else a terminal would act on.
    var onOneLine: String {
        guard unicodeScalars.contains(where: \.isControl) else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.map { $0.isControl ? " " : $0 }))
    }
}

extension Unicode.Scalar {
    /// Line breaks, escape sequences, and everything else below the space and around the delete key.
    fileprivate var isControl: Bool { value < 0x20 || (0x7F..<0xA0).contains(value) }
}
