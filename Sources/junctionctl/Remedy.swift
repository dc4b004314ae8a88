import JunctionClient
import JunctionText

extension JunctionError {
    /// The remedy for a user at a terminal: the daemon's advice, or else a text by the error's kind.
    ///
    /// A remedy that fits only some errors of a kind belongs where those errors are created.
    var remedy: String {
        let wait = retryAfter.map { "try again in \(max(1, $0.wholeSeconds(.up))) s" }
        if let advice {
            return [capability.map { _ in accessRemedy(advice) } ?? advice, wait].compactMap(\.self).joined(
                separator: "; "
            )
        }
        return wait ?? remedyByKind
    }

    private var remedyByKind: String {
        switch kind {
        case .alreadySignedIn: "run 'junctionctl sign-out' first, or switch with 'junctionctl identify'"
        case .invalidCredential: "get a new token, code or key and sign in with that"
        case .notSignedIn: "run 'junctionctl sign-in'"
        case .reauthenticationRequired: "run 'junctionctl sign-in' with a new token for the same user"
        case .sessionTerminated: "have the account opened again at the provider, or sign in as somebody else"
        case .providerUnavailable: "nothing is lost; 'junctionctl doctor' says what is in the way"
        case .permissionDenied: permissionRemedy
        case .incompatibleCredential: "run 'junctionctl sign-out' first"
        case .storageUnavailable: "run 'junctionctl doctor'"
        case .tokenExpired: "see 'junctionctl status' for what the renewal waits for"
        case .misconfigured: InstanceName.ofThisProcess.correction
        case .busy: "let some of this user's requests finish first"
        case .unsupported: "see 'junctionctl status' for the provider and the scheme"
        case .invalidParams:
            maximum.map { "at most \($0.wholeSeconds(.down)) s is possible" } ?? "see the verb's --help"
        case .methodNotFound: "the daemon is older than this program: update it"
        case .daemonUnreachable: "start junctiond, or name its socket with --socket"
        case .connectionLost: "see 'junctionctl status' for what became of it"
        case .localFailure: "raise the limits of this shell or service ('ulimit -a'), or free memory"
        case .invalidSocketPath: "correct --socket, --instance, $JUNCTIOND_SOCKET or $JUNCTIOND_INSTANCE"
        case .requestTooLarge: "send less"
        case .timedOut: "wait longer, or see 'junctionctl status'"
        default: "see 'junctionctl doctor'"
        }
    }

    /// Without a capability, the error is about the requested resource and not about the caller.
    private var permissionRemedy: String {
        guard code != nil else { return "ask for access to the socket" }
        guard let capability else { return "ask for what belongs to the signed-in user; the rest is for your backend" }
        return accessRemedy(
            "see 'junctionctl whoami', and ask for the socket's group or an [[access]] entry that allows '\(capability)'"
        )
    }

    /// Returns how to get a capability. If this login is older than the user's group membership, the user has to log in
    /// again. Otherwise the daemon's advice applies.
    private func accessRemedy(_ access: String) -> String {
        let missing = Login.current.missing(in: .ofThisMachine).map { "'\($0.name)'" }
        guard let first = missing.first else { return access }
        return "this login began before you were in \(missing.joined(separator: ", ")): log in again, or run 'newgrp "
            + "\(first.dropFirst().dropLast())'; if that is not it, \(access)"
    }
}

extension Duration {
    fileprivate func wholeSeconds(_ rule: FloatingPointRoundingRule) -> Int64 {
        // A wire duration is below 1e15 seconds, so it fits.
        Int64((self / .seconds(1)).rounded(rule))
    }
}
