/// The errors of a sign-in and of a missing session.
extension SessionError {
    static func tooManyProviderCalls(retryAfter: Duration) -> SessionError {
        SessionError(
            .busy,
            "Your user has reached its limit of calls to the provider a minute (limits.providerCallsPerMinute): wait, and call again",
            retryAfter: retryAfter
        )
    }

    static let namesNoUser = SessionError(
        .invalidCredential,
        "The credential names no user to identify: add a user id"
    )
    static let withdrawn = SessionError(
        .permissionDenied,
        "The capability 'manage' was withdrawn from this caller before the change was complete; nothing has changed"
    )
    static let notSignedIn = SessionError(.notSignedIn, "Nobody is signed in: sign in first")
    static let overtaken = SessionError(.notSignedIn, "A sign-out came in between: nobody is signed in")
    static let reauthenticationRequired = SessionError(
        .reauthenticationRequired,
        "The provider wants the user to sign in again: sign in with a new credential for the same user"
    )

    /// The provider has refused to renew the session for a long time without a reason.
    ///
    /// - Parameter answer: its last answer. `nil` after a restart.
    static func reauthenticationPresumed(_ answer: String? = nil) -> SessionError {
        let answer = answer.map { " (\($0))" } ?? ""
        return SessionError(
            .reauthenticationRequired,
            "The provider has refused to renew the session for ten minutes or longer without a reason\(answer): sign in "
                + "with a new credential for the same user; until then the daemon tries once an hour"
        )
    }

    static func terminated(_ termination: Termination) -> SessionError {
        SessionError(
            .sessionTerminated,
            "The provider ended the session (\(termination.code)): sign in again once the user is active there, or with "
                + "another user",
            termination: termination,
            remedy:
                "if the account is open again, run 'junctionctl sign-in' with a new credential for it; if not, sign in "
                + "as somebody else"
        )
    }
}

extension String {
    /// Returns the remedy after a sign-in that the provider neither granted nor refused.
    package static func signInAgain(after failure: Unavailability) -> String {
        if failure.cause == .configuration { return signInAgainOnceCorrected }
        return failure.ambiguous ? signInAgainWithAnother : signInAgain
    }

    /// The provider refuses this client, or is not the one in the configuration.
    package static let signInAgainOnceCorrected =
        "correct the configuration here or at the provider. After a change here, restart the daemon. Then sign in again"
    /// The daemon does not repeat a sign-in by itself.
    private static let signInAgain =
        "the daemon does not repeat it: sign in with the same credential once the provider answers; "
        + "'junctionctl doctor' says what is in the way"
    /// The grant of the spent credential is sealed on disk.
    package static let signInAgainWithPartialGrant =
        "the credential has been spent, and the daemon keeps its grant for two hours, also over a restart: sign in with the same credential "
        + "once the provider answers; 'junctionctl doctor' says what is in the way"
    /// The grant of the spent credential is only in memory, because the disk refuses the write.
    package static let signInAgainWithGrantInMemory =
        "the credential has been spent, and the daemon keeps its grant only in memory, because the disk refused it: sign in "
        + "with the same credential once the provider answers, before the daemon ends; 'junctionctl doctor' says what is in the way"
    /// The provider may have acted on a request that it did not answer.
    private static let signInAgainWithAnother =
        "the daemon does not repeat it: sign in with the same credential once the provider answers, and with a new one if "
        + "the provider refuses it; 'junctionctl doctor' says what is in the way"
}
