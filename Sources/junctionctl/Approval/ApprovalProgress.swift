import JunctionProtocol

/// The progress of a sign-in that waits for approval.
enum ApprovalProgress: Equatable {
    /// The approval is pending.
    case awaited(until: Snapshot.Authorization)
    /// The daemon completes a sign-in.
    case finishing
    case approved
    /// The sign-in failed or was given up.
    case ended(CommandFailure)

    /// Derives the progress from the present session.
    ///
    /// - Parameter begun: the session when the codes were shown.
    init(of begun: Snapshot, in snapshot: Snapshot) {
        if let authorization = snapshot.authorization {
            self =
                authorization.isOther(than: begun.authorization) ? .ended(.begunAnew) : .awaited(until: authorization)
        } else if snapshot.state == .establishing {
            self = .finishing
        } else if let words = snapshot.renewal.lastError, !snapshot.isNewSession(since: begun) {
            self = .ended(CommandFailure(notApproved: words))
        } else if snapshot.isNewSession(since: begun) {
            self = .approved
        } else {
            self = .ended(snapshot.isSignedIn ? .signedInOtherwise(snapshot.userId) : .givenUp)
        }
    }
}

extension Snapshot {
    /// Whether a device sign-in has signed a user in since then.
    fileprivate func isNewSession(since begun: Snapshot) -> Bool {
        guard isSignedIn, scheme == Credential.device.scheme else { return false }
        return !begun.isSignedIn || accessToken != begun.accessToken && renewal.lastError == nil
    }
}

extension Snapshot.Authorization {
    /// Whether these are certainly other codes. The expiry time is not compared, because it may move with the wall
    /// clock.
    fileprivate func isOther(than other: Self?) -> Bool {
        guard let mine = userCode, let theirs = other?.userCode else { return false }
        return mine != theirs
    }
}

extension CommandFailure {
    private static let inGeneral = "see 'junctionctl status'; 'junctionctl sign-in --device' begins it again"

    fileprivate init(notApproved words: String) {
        self.init(words, kind: "invalidCredential", remedy: Self.inGeneral)
    }

    fileprivate static let begunAnew = CommandFailure(
        "this sign-in was given up, and another one begun",
        kind: "invalidCredential",
        remedy: "'junctionctl status' has the codes of the other one"
    )

    fileprivate static let givenUp = CommandFailure(
        "the sign-in is over and nobody is signed in: it was given up, or the daemon was restarted when it had ended",
        kind: "notSignedIn",
        remedy: inGeneral,
        status: .notSignedIn
    )

    fileprivate static func signedInOtherwise(_ userId: String?) -> CommandFailure {
        CommandFailure(
            "somebody has signed in by other means meanwhile" + (userId.map { ": \($0)" } ?? ""),
            kind: "alreadySignedIn",
            remedy: inGeneral
        )
    }
}
