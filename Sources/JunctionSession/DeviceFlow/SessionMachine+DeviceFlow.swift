/// Device sign-ins: a person approves on another screen (RFC 8628).
extension SessionMachine {
    // MARK: Events

    /// Handles the codes that the provider has issued. The machine answers the caller when they have been written.
    ///
    /// - Parameters:
    ///   - life: the time in which the sign-in can be approved.
    ///   - interval: the polling interval.
    ///   - caller: the caller that requested the codes.
    package mutating func deviceSignInBegan(
        _ attempt: AttemptID,
        _ codes: SecretRef,
        life: Life,
        interval: Duration,
        by caller: LocalCaller? = nil,
        now: Moment
    ) -> [Effect] {
        guard let exchange = signIn.exchange(awaiting: attempt) else {
            _ = revocations.arrived(attempt)
            return []
        }
        signIn.end()
        if exchange.isWithdrawn {
            callers.refuse(.withdrawn) { $0 == .session }
            return settle(now)
        }
        let device = DeviceFlow(
            codes,
            endsAt: life.end ?? now.uptime,
            interval: interval,
            externalUserId: exchange.externalUserId,
            wanted: exchange.wanted,
            caller: caller,
            now
        )
        signIn.show(device)
        let update = updateRecord()
        // A sign-in is answered with the codes, an identify call when the device sign-in ends.
        callers.setWait { caller in
            guard caller.wait == .session else { return nil }
            return caller.kind == .change ? .codes(codes, update) : .approval
        }
        return settle(now)
    }

    /// Handles a poll that brought no session. `host` was polled.
    package mutating func pollFailed(
        _ attempt: AttemptID,
        _ failure: PollFailure,
        by host: String? = nil,
        now: Moment
    ) -> [Effect] {
        guard let exchange = signIn.exchange(awaiting: attempt), exchange.isPoll else {
            _ = revocations.arrived(attempt)
            return []
        }
        signIn.end()
        if exchange.isWithdrawn { return settle(now) }
        switch failure {
        case .pending(let retryAfter): signIn.device?.pollUndecided(tooFast: false, demanding: retryAfter, now)
        case .slowDown(let retryAfter): signIn.device?.pollUndecided(tooFast: true, demanding: retryAfter, now)
        case .unavailable(let unavailability): signIn.device?.pollFailed(unavailability, now)
        case .denied:
            return endDeviceSignIn(signIn.device?.interruption ?? .approvalDenied, by: host, now) + settle(now)
        case .expired:
            return endDeviceSignIn(signIn.device?.interruption ?? .approvalExpired, by: host, now) + settle(now)
        case .refused(let words):
            return endDeviceSignIn(signIn.device?.refusal(saying: words) ?? .approvalRefused(words), by: host, now)
                + settle(now)
        }
        // After a restart the daemon polls no sooner than the provider has demanded.
        if signIn.device?.isPauseDemanded == true { updateRecord() }
        return settle(now)
    }

    /// Handles a first caller of the device sign-in that has lost its right. Tokens that are being written, or that a
    /// poll in flight brings, are revoked. Callers that joined get the reason why the sign-in has ended.
    package mutating func deviceSignInRightWithdrawn(now: Moment) -> [Effect] {
        if persistence.change?.kind == .signIn(of: nil) {
            signIn.endDevice(because: SessionError.firstCallerLostRight.message)
            withdrawSignIn(.firstCallerLostRight, now)
            return settle(now)
        }
        guard signIn.device != nil else { return [] }
        if signIn.isPolling { signIn.withdraw() }
        // The codes leave the disk at once: after a crash the daemon would not know which caller requested them.
        return endDeviceSignIn(.firstCallerLostRight, now) + settle(now)
    }

    // MARK: Outcomes

    /// Ends the device sign-in without a session. The next write removes its codes, and its callers get the refusal.
    mutating func endDeviceSignIn(_ refusal: SessionError, by host: String? = nil, _ now: Moment) -> [Effect] {
        signIn.endDevice(because: refusal.message)
        for grant in grants.drop(for: .deviceSignIn) { revoke(grant, now) }
        callers.refuse(refusal, after: updateRecord()) { $0 == .approval }
        return [.report(.exchangeEnded(.refused, Unavailability(refusal, cause: .credential, host: host)))]
    }

    mutating func expireDeviceSignIn(_ now: Moment) -> [Effect] {
        guard let device = signIn.device, device.hasExpired(now) else { return [] }
        return endDeviceSignIn(device.interruption ?? .approvalExpired, now)
    }

    /// Joins the device sign-in whose codes are shown. A sign-in joins a device sign-in that a sign-in began. An
    /// identify call joins one that an identify call for the same user began. Any other combination is refused.
    mutating func joinDeviceSignIn(
        _ caller: Callers.Caller,
        _ device: DeviceFlow,
        for externalUserId: ExternalUserId?,
        wanting wanted: Identity?
    ) {
        let isFull = callers.list.count(where: { $0.wait == .approval }) >= DeviceFlow.mostCallers
        guard device.externalUserId == externalUserId, device.wanted == wanted,
            !isFull || externalUserId == nil
        else { return callers.refuse(caller.id, .anotherIsAwaited) }
        callers.setWait(caller.id, to: externalUserId == nil ? .codes(device.codes, persistence.lastUpdate) : .approval)
    }

    mutating func poll(_ now: Moment) -> [Effect] {
        guard isPollDue(now) else { return [] }
        let attempt = nextAttempt()
        guard let codes = signIn.poll(attempt, now) else { return [] }
        grants.useGrantOfDeviceSignIn(by: attempt)
        return [.poll(attempt, with: codes)]
    }

    /// Whether the next request is a poll. A due poll goes before sign-ins that wait for their turn.
    func isPollDue(_ now: Moment) -> Bool { canPoll && signIn.device?.dueAt.map { $0 <= now.uptime } ?? false }

    /// Returns the time at which a poll is due or the codes expire. If something blocks a due poll, the event that
    /// unblocks it runs the machine.
    func deviceDue(_ now: Moment) -> Uptime? {
        guard let due = signIn.device?.dueAt, due > now.uptime || canPoll else { return nil }
        return due
    }

    /// Whether a poll may begin. Only one exchange may be in flight. No poll runs beside a revocation, because the
    /// sign-out could end the session that the poll brings.
    private var canPoll: Bool { signIn.exchange == nil && persistence.change == nil && !revocations.isRequestInFlight }
}

/// The reasons why a device sign-in ended without a session.
extension SessionError {
    private static let again = "begin it again (junctionctl sign-in --device)"

    static let approvalDenied = SessionError(.invalidCredential, "The sign-in was denied on the other screen: \(again)")
    static let approvalExpired = SessionError(
        .invalidCredential,
        "The sign-in has expired before anybody approved it: \(again)"
    )
    /// For callers that joined, which keep their own right, and for the status.
    static let firstCallerLostRight = SessionError(
        .invalidCredential,
        "The sign-in has ended because its first caller has lost the right to sign in; nothing has changed. Anybody with the "
            + "right can begin another"
    )
    static let approvalOvertaken = SessionError(.alreadySignedIn, "Somebody has signed in by other means meanwhile")
    /// A person approved the sign-in, and the provider did not name the user.
    static let approvalUnidentified = SessionError(
        .providerUnavailable,
        "A person has approved the sign-in, and the provider does not say who. The daemon revokes the grant: \(again)"
    )

    static func approvalRefused(_ words: String) -> SessionError {
        SessionError(.invalidCredential, "The provider refused the sign-in that awaited approval: \(words): \(again)")
    }

    /// A person may have approved it during a restart or before an answer was lost.
    static func approvalInterrupted(by doubt: DeviceFlow.Doubt) -> SessionError {
        let cause =
            switch doubt {
            case .restart: "a restart"
            case .lostAnswer: "an answer that was lost"
            }
        return SessionError(
            .invalidCredential,
            "The sign-in was interrupted by \(cause), and the provider no longer "
                + "accepts its code, approved or not. The approval has to be repeated: \(again)"
        )
    }

    static func approvedByAnother(than wanted: Identity) -> SessionError {
        SessionError(
            .alreadySignedIn,
            "The sign-in is for \(wanted.userId), and another user has approved it: approve as \(wanted.userId), "
                + "or sign out first",
            userId: wanted.userId
        )
    }

    fileprivate static let anotherIsAwaited = SessionError(
        .busy,
        "A sign-in that another call began awaits approval: wait for its end, or sign out to give it up"
    )
}
