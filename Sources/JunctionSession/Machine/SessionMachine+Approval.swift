/// Signing in by the approval of a person on another screen.
extension SessionMachine {
    // MARK: Events

    /// The provider gave the codes that were asked for: they are noted before the caller is answered.
    package mutating func approvalBegan(_ attempt: Attempt, _ begun: ApprovalBegun, now: Moment) -> [Effect] {
        guard let exchange = signIn.sent(attempt) else {
            _ = revocations.arrived(attempt)
            return []
        }
        signIn.end()
        if exchange.isWithdrawn {
            callers.refuse(.withdrawn) { $0 == .session }
            return settle(now)
        }
        approval.begin(begun, for: exchange.externalUserId, wanting: exchange.wanted, now)
        let note = note()
        // A sign-in is told of the codes, an identify call of the end.
        callers.move { caller in
            guard caller.wait == .session else { return nil }
            return caller.kind == .change ? .codes(begun.codes, note) : .approval
        }
        return settle(now)
    }

    /// A poll brought no session.
    package mutating func pollFailed(_ attempt: Attempt, _ failure: PollFailure, now: Moment) -> [Effect] {
        guard let exchange = signIn.sent(attempt), exchange.isPoll else {
            _ = revocations.arrived(attempt)
            return []
        }
        signIn.end()
        if exchange.isWithdrawn { return settle(now) }
        var ending: Refusal?
        switch failure {
        case .pending: approval.isUndecided(tooFast: false, now)
        case .slowDown:
            approval.isUndecided(tooFast: true, now)
            // A restart polls no faster than the provider has demanded.
            note()
        case .unavailable(let unavailability):
            approval.failed(unavailability, now)
            if unavailability.retryAfter != nil { note() }
        case .denied: ending = .approvalDenied
        case .expired: ending = .approvalExpired
        case .refused(let words): ending = .approvalRefused(words)
        }
        guard let ending else { return settle(now) }
        return endApproval(approval.interruption ?? ending) + settle(now)
    }

    /// Who began the present one may do so no more: what is granted by a poll that has left is revoked.
    package mutating func approvalRightWithdrawn(now: Moment) -> [Effect] {
        guard approval.isRunning else { return [] }
        if signIn.isPolling { signIn.withdraw() }
        // The codes leave the disk at once: the process that begins after a crash does not know who asked for them.
        return endApproval(.withdrawn) + settle(now)
    }

    // MARK: What follows

    /// The present one is over without a session: its codes leave the disk, and whoever waited hears why.
    mutating func endApproval(_ refusal: Refusal) -> [Effect] {
        approval.end(because: refusal.message)
        let unwanted = giveBackPartialGrants(where: \.stored.isOfApproval)
        callers.refuse(refusal, after: note()) { $0 == .approval }
        return [.report(.exchangeEnded(.refused))] + unwanted
    }

    /// It is over when its codes have ended.
    mutating func expireApproval(_ now: Moment) -> [Effect] {
        approval.hasExpired(now) ? endApproval(approval.interruption ?? .approvalExpired) : []
    }

    /// There is one already. Whoever asks for the same joins it: a sign-in that of a sign-in, an identify call that of one for
    /// the same user. A sign-in is answered when the codes are on the disk, an identify call when the approval is over.
    mutating func joinApproval(
        _ caller: Callers.Caller,
        for externalUserId: ExternalUserId?,
        wanting wanted: Identity?
    ) {
        let isFull = callers.list.count(where: { $0.wait == .approval }) >= Approval.mostCallers
        guard let stored = approval.stored, let codes = approval.codes, stored.externalUserId == externalUserId,
            stored.wanted == wanted, !isFull || externalUserId == nil
        else { return callers.refuse(caller.id, .anotherIsAwaited) }
        let wait: Callers.Wait = externalUserId == nil ? .codes(codes, ledger.lastNote) : .approval
        callers.move(caller.id, to: wait)
    }

    /// Polls when that is due. It is an exchange like any other: at most one is in flight, and while the provider is being
    /// told of a sign-out it hears of nothing that could be ended with it.
    mutating func poll(_ now: Moment) -> [Effect] {
        guard isPollDue(now), let (codes, stored) = approval.poll(now) else { return [] }
        let attempt = nextAttempt()
        signIn.begin(
            SignIn.Exchange(
                attempt: attempt,
                uid: 0,
                externalUserId: stored.externalUserId,
                wanted: stored.wanted,
                stage: .sent(given: nil, round: nil),
                partialGrant: partialGrants.ofApproval?.secrets
            )
        )
        return [.poll(attempt, with: codes)]
    }

    /// Whether the next request of a sign-in is a poll. Sign-ins that follow one another leave a poll its turn; between two
    /// polls they have theirs.
    func isPollDue(_ now: Moment) -> Bool { canPoll && approval.dueAt.map { $0 <= now.uptime } ?? false }

    /// When a poll or the end is due by itself; whatever is in the way of a poll ends by an event of its own.
    func approvalDue(_ now: Moment) -> Uptime? {
        guard let due = approval.dueAt, due > now.uptime || canPoll else { return nil }
        return due
    }

    private var canPoll: Bool { signIn.exchange == nil && ledger.change == nil && !revocations.isTelling }
}

/// Why a sign-in that awaited approval came to nothing.
extension Refusal {
    private static let again = "begin it again (junctionctl sign-in --device)"

    static let approvalDenied = Refusal(.invalidCredential, "The sign-in was denied on the other screen: \(again)")
    static let approvalExpired = Refusal(
        .invalidCredential,
        "The sign-in has expired before anybody approved it: \(again)"
    )
    static let approvalOvertaken = Refusal(.alreadySignedIn, "Somebody has signed in by other means meanwhile")
    /// Somebody has approved it, and the provider did not say who.
    static let approvalUnidentified = Refusal(
        .providerUnavailable,
        "Somebody has approved the sign-in, and the provider does not say who: what it has granted is given back: \(again)"
    )

    static func approvalRefused(_ words: String) -> Refusal {
        Refusal(.invalidCredential, "The provider refused the sign-in that awaited approval: \(words): \(again)")
    }

    /// It was approved while this daemon was restarted, or while no answer came, perhaps: nobody can know.
    static func approvalInterrupted(byRestart: Bool) -> Refusal {
        Refusal(
            .invalidCredential,
            "The sign-in was interrupted by \(byRestart ? "a restart" : "an answer that was lost"), and the provider does not "
                + "take its code any more, approved or not: the approval has to be repeated: \(again)"
        )
    }

    /// Somebody else has approved it than the only user who was wanted.
    static func approvedByAnother(than wanted: Identity) -> Refusal {
        Refusal(
            .alreadySignedIn,
            "Another user has approved the sign-in than \(wanted.userId), for whom it was begun: approve as \(wanted.userId), "
                + "or sign out first",
            userId: wanted.userId
        )
    }

    fileprivate static let anotherIsAwaited = Refusal(
        .busy,
        "A sign-in that another call began awaits approval: wait for its end, or sign out to give it up"
    )
}
