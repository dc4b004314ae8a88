/// Signing in by the approval of a person on another screen.
extension SessionMachine {
    // MARK: Events

    /// The provider gave the codes that were asked for: they are noted before the caller is answered.
    package mutating func approvalBegan(_ attempt: Attempt, _ begun: ApprovalBegun, now: Moment) -> [Effect] {
        guard signIn.isSent(attempt), let exchange = signIn.exchange else {
            _ = revocations.arrived(attempt)
            return []
        }
        signIn.end()
        switch exchange.origin {
        case .signIn(let request):
            approval.begin(begun, for: nil, [], now)
            return noteAwaited(request, now) + settle(now)
        case .identify(let request, let externalUserId, _):
            approval.begin(begun, for: externalUserId, [request], now)
            return noteApproval() + settle(now)
        case .approval:
            return settle(now)
        }
    }

    /// A poll brought no session.
    package mutating func pollFailed(_ attempt: Attempt, _ failure: PollFailure, now: Moment) -> [Effect] {
        guard signIn.isSent(attempt), case .approval(_, let callers)? = signIn.exchange?.origin else {
            _ = revocations.arrived(attempt)
            return []
        }
        let isWithdrawn = signIn.exchange?.isWithdrawn ?? false
        signIn.end()
        if isWithdrawn { return endApproval(.withdrawn, callers) + settle(now) }
        var ending: ApprovalEnding?
        switch failure {
        case .pending: approval.isUndecided(tooFast: false, callers, now)
        case .slowDown:
            approval.isUndecided(tooFast: true, callers, now)
            // A restart polls no faster than the provider has demanded.
            if coming.content != nil { ledger.note() }
        case .unavailable(let unavailability):
            approval.failed(unavailability, callers, now)
            if unavailability.retryAfter != nil, coming.content != nil { ledger.note() }
        case .denied: ending = .denied
        case .expired: ending = .expired
        case .refused(let words): ending = .refused(words)
        }
        guard let ending else { return settle(now) }
        return endApproval(approval.interruption ?? ending, callers) + settle(now)
    }

    /// Who began the present one may do so no more: what is granted by a poll that has left is revoked.
    package mutating func approvalRightWithdrawn(now: Moment) -> [Effect] {
        guard approval.isRunning else { return [] }
        guard signIn.isPolling else { return endApproval(.withdrawn) + settle(now) }
        signIn.withdrawPoll()
        return settle(now)
    }

    // MARK: What follows

    /// The present one is over without a session: its codes leave the disk, and whoever waited hears why.
    mutating func endApproval(_ ending: ApprovalEnding, _ callers: [IdentifyRequest] = []) -> [Effect] {
        let refusal = Refusal(ending.kind, ending.words, userId: ending.userId)
        let replies = (callers + approval.end(because: ending.words)).map { Reply.identify($0, .failure(refusal)) }
        let unwanted = giveBackPartialGrants(where: \.stored.isOfApproval)
        return [.report(.exchangeEnded(.refused))] + unwanted + noteApproval(replies)
    }

    /// Wants it written, with the codes or without; where nothing can be written, memory has to do.
    private mutating func noteApproval(_ replies: [Reply] = []) -> [Effect] {
        guard coming.content != nil else { return replies.map { .reply($0) } }
        ledger.note(replies.map { .reply($0) })
        return []
    }

    /// Who asked for the codes is told when they are on the disk.
    private mutating func noteAwaited(_ request: ChangeRequest, _ now: Moment) -> [Effect] {
        guard coming.content != nil, let codes = approval.codes else { return [.reply(.change(request, nil))] }
        ledger.note([.awaited(request, codes: codes)])
        return []
    }

    /// Tells who asked for codes, after their write has ended, whether they can be approved: that may have taken longer than they
    /// live, and somebody else may be about to be signed in.
    mutating func answerNoted() -> [Effect] {
        approval.takeNoted().map { request, isRunning in
            let words = approval.lastError ?? ApprovalEnding.expired.words
            return .reply(.change(request, isRunning ? nil : Refusal(.invalidCredential, words)))
        }
    }

    /// There is one already. Whoever asks for the same joins it: a sign-in that of a sign-in, an identify call that of one for
    /// the same user. A sign-in is answered when the codes are on the disk, an identify call when the approval is over.
    mutating func joinApproval(_ origin: SignIn.Origin) -> [Effect] {
        switch origin {
        case .signIn(let request) where approval.stored?.externalUserId == nil:
            guard let codes = approval.codes else { return [] }
            return ledger.follow(.awaited(request, codes: codes)) ? [] : [.reply(.change(request, nil))]
        case .identify(let request, let externalUserId, _) where approval.join(request, for: externalUserId):
            return []
        case .signIn, .identify:
            return origin.refused(.anotherIsAwaited).map { .reply($0) }
        case .approval:
            return []
        }
    }

    /// Polls when that is due. It is an exchange like any other: at most one is in flight, and while the provider is being
    /// told of a sign-out it hears of nothing that could be ended with it.
    mutating func advanceApproval(_ now: Moment) -> [Effect] {
        guard let due = approval.dueAt, due <= now.uptime, canPoll, let (codes, origin) = approval.poll(now) else {
            return []
        }
        let attempt = nextAttempt()
        signIn.begin(
            SignIn.Exchange(
                attempt: attempt,
                origin: origin,
                uid: 0,
                stage: .sent(given: nil, round: nil),
                partialGrant: partialGrants.ofApproval?.secrets
            )
        )
        return [.poll(attempt, with: codes)]
    }

    /// When a poll or the end is due by itself; whatever is in the way of a poll ends by an event of its own.
    func approvalDue(_ now: Moment) -> Uptime? {
        guard let due = approval.dueAt, due > now.uptime || canPoll else { return nil }
        return due
    }

    private var canPoll: Bool { signIn.exchange == nil && ledger.change == nil && !revocations.isTelling }

    /// Who may come of an approval: whoever stands, unless an app has declared that another is wanted.
    func wanted(by origin: SignIn.Origin) -> Identity? {
        guard case .approval(let externalUserId, _) = origin else { return nil }
        return wanted(as: externalUserId)
    }

    /// The only user who may come of a credential that names nobody: whoever stands, unless an app declares another.
    func wanted(as externalUserId: ExternalUserId?) -> Identity? {
        guard let present = standing.session?.stored else { return nil }
        return externalUserId.map { $0 == present.externalUserId } ?? true ? present.identity : nil
    }
}

/// Why a sign-in that awaited approval came to nothing.
enum ApprovalEnding: Hashable, Sendable {
    case denied
    case expired
    case refused(String)
    /// It was approved while this daemon was restarted, or while no answer came, perhaps: nobody can know.
    case interrupted(byRestart: Bool)
    /// Somebody else has approved than the one who is signed in here.
    case otherUser(signedIn: String)
    /// Somebody has signed in by other means meanwhile.
    case overtaken
    /// Somebody has approved it, and the provider did not say who.
    case unidentified
    /// Who began it may not any more.
    case withdrawn

    /// - Parameter present: who is signed in here.
    init(_ failure: ExchangeFailure, present: Session?) {
        self =
            switch failure {
            case .refused(let words): .refused(words)
            case .terminated(let code, let message): .refused("\(message) (\(code))")
            case .unavailable(let unavailability): .refused(unavailability.message)
            case .otherUser(let other): .otherUser(signedIn: present?.stored.identity.userId ?? other.userId)
            }
    }

    private static let again = "begin it again (junctionctl sign-in --device)"

    var words: String {
        switch self {
        case .denied: "The sign-in was denied on the other screen: \(Self.again)"
        case .expired: "The sign-in has expired before anybody approved it: \(Self.again)"
        case .refused(let words): "The provider refused the sign-in that awaited approval: \(words): \(Self.again)"
        case .interrupted(let byRestart):
            "The sign-in was interrupted by \(byRestart ? "a restart" : "an answer that was lost"), and the provider does not "
                + "take its code any more, approved or not: the approval has to be repeated: \(Self.again)"
        case .otherUser(let userId):
            "Another user has approved the sign-in than \(userId), who is signed in here: sign out first, or approve as "
                + userId
        case .overtaken: "Somebody has signed in by other means meanwhile"
        case .unidentified:
            "Somebody has approved the sign-in, and the provider does not say who: what it has granted is given back: "
                + Self.again
        case .withdrawn: Refusal.withdrawn.message
        }
    }

    var kind: Refusal.Kind {
        switch self {
        case .denied, .expired, .refused, .interrupted: .invalidCredential
        case .otherUser, .overtaken: .alreadySignedIn
        case .unidentified: .providerUnavailable
        case .withdrawn: .permissionDenied
        }
    }

    var userId: String? {
        if case .otherUser(let userId) = self { userId } else { nil }
    }
}

extension Refusal {
    fileprivate static let anotherIsAwaited = Refusal(
        .busy,
        "A sign-in that another call began awaits approval: wait for its end, or sign out to give it up"
    )
}
