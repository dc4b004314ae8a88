import JunctionSession
import Logging

/// The texts of `doctor` and of the log about a bootstrap credential.
extension BootstrapCredential {
    var finding: ProbeFinding {
        switch state {
        case .new, .lookedUp: finding(.unused("the daemon has not checked it yet"))
        case .trying(let attempts), .waiting(let attempts):
            finding(.note, "The credential \(name) is being tried" + (attempts.failure.map { "; last: \($0)" } ?? "."))
        case .heldBack: finding(Self.heldBack)
        case .setAside(let reason), .done(let reason): finding(reason)
        }
    }

    private func finding(_ reason: Reason) -> ProbeFinding {
        switch reason {
        case .signedIn: finding(.ok, "The credential \(name) has signed a user in.")
        case .signOut: finding(.ok, "The credential \(name) is not used: there was a sign-out.")
        case .unused(let reason): finding(.ok, "The credential \(name) is not used: \(reason).")
        case .refused(let reason):
            finding(
                .problem,
                "The credential \(name) signs nobody in: \(reason)",
                "Replace it with a new credential: the daemon tries the new one at once, or after a restart"
            )
        case .unknown(let reason):
            finding(
                .problem,
                "The credential \(name) is not tried, because it may have been used before: \(reason)",
                "Make used-credentials in the state directory readable again, and reload or restart junctiond"
            )
        }
    }

    private func finding(_ verdict: ProbeFinding.Verdict, _ detail: String, _ remedy: String? = nil) -> ProbeFinding {
        ProbeFinding(name: "provisioning", verdict: verdict, detail: detail, remedy: remedy)
    }

    func log(to logger: Logger) {
        switch state {
        case .new, .lookedUp, .trying: break
        case .waiting(let attempts):
            log(.warning, "could not be exchanged yet; it is tried again", attempts.failure, to: logger)
        case .heldBack: log(Self.heldBack, to: logger)
        case .setAside(.refused(let reason)): log(.error, "cannot be used here", reason, to: logger)
        case .setAside(let reason), .done(let reason): log(reason, to: logger)
        }
    }

    private func log(_ reason: Reason, to logger: Logger) {
        switch reason {
        case .signedIn(let userId):
            logger.notice(
                "Signed in with the credential \(name)",
                metadata: .of(.signedIn, [.userId: "\(userId ?? "unknown")"])
            )
        case .signOut: log(.notice, "is not used any more: there was a sign-out", to: logger)
        case .unused(let reason): log(.info, "is not used: \(reason)", to: logger)
        case .refused(let reason):
            log(.error, "signs nobody in, and is not tried again: pass a new one", reason, to: logger)
        case .unknown(let fault):
            log(.error, "is not tried: whether it was used before cannot be known", fault, to: logger)
        }
    }

    private func log(_ level: Logger.Level, _ text: String, _ error: String? = nil, to logger: Logger) {
        logger.log(
            level: level,
            "The credential \(name) \(text)",
            metadata: error.map { .of(nil, [.error: "\($0)"]) }
        )
    }

    private static let heldBack = Reason.unused("somebody is signed in, or about to be; it is kept until nobody is")
}
