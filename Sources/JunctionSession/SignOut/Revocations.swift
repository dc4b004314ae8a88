/// Ended sessions that the provider has yet to be told of: one at a time, in the background, and for a limited time.
///
/// | a revocation | until |
/// |---|---|
/// | waits | it is due, no other is being told, and no sign-in may be its user's |
/// | is being told | the provider answers; a sign-in that may be its user's interrupts it |
/// | is dropped | its user has signed in again |
/// | is given up | the token that proves it has ended, or too many attempts have failed, or too many wait |
///
/// A revocation is in memory only: a sign-out leaves no secret on disk, and a revocation needs one. Only the end of the process
/// waits for a request that is under way.
struct Revocations: Hashable, Sendable {
    /// The oldest first.
    private(set) var list: [Revocation] = []
    /// The request by which the provider is being told of one: at most one.
    private var request: Request?
    /// Requests that a sign-out or a switch overtook: their answers may bring a session, which is revoked; with its user, if that is
    /// known before.
    private(set) var overtaken: [Attempt: Identity?] = [:]
    private var last: UInt64 = 0

    /// A sign-out that the provider has not heard of.
    struct Revocation: Hashable, Sendable {
        var id: RevocationID
        var identity: Identity
        /// What proves it.
        var secrets: SecretRef
        var retry = Retry()
        /// When the token that proves the sign-out ends.
        var endsAt: Uptime
        var lastError: String?

        /// When the provider is told next.
        var dueAt: Uptime? { retry.time.map { min($0.uptime, endsAt) } }

        func isDue(_ now: Moment) -> Bool { dueAt.map { $0 <= now.uptime } ?? true }
    }

    private struct Request: Hashable, Sendable {
        var id: RevocationID
        var isInterrupted = false
    }

    // MARK: What is revoked

    /// Notes that the provider is to hear of the end of a session, for as long as its token proves anything.
    mutating func add(_ identity: Identity, _ secrets: SecretRef, goodFor life: Duration, _ now: Moment) -> [Effect] {
        guard life > .zero else { return [] }
        var effects: [Effect] = []
        if list.count >= RenewalPolicy.mostRevocations, let eldest = list.first(where: { $0.id != request?.id }) {
            effects += giveUp(eldest, because: "more than \(RenewalPolicy.mostRevocations) wait to be told")
        }
        last += 1
        let id = RevocationID(number: last)
        list.append(Revocation(id: id, identity: identity, secrets: secrets, endsAt: now.uptime + life))
        return effects
    }

    /// A vendor may know one session a user and device: revoking the old one could end the new one.
    mutating func drop(_ identity: Identity) {
        list.removeAll { $0.identity.isSameUser(as: identity) }
    }

    /// A request was overtaken; with the user whose session it may bring, if that is known.
    mutating func overtake(_ attempt: Attempt, of identity: Identity?) {
        overtaken.updateValue(identity, forKey: attempt)
    }

    /// The outcome of such a request is here; `nil` when it was none.
    mutating func arrived(_ attempt: Attempt) -> Identity?? {
        overtaken.removeValue(forKey: attempt)
    }

    // MARK: Telling

    /// A request to revoke ended. Without a failure the provider knows, or will never.
    mutating func ended(_ id: RevocationID, _ failure: Unavailability?, _ now: Moment, using random: inout Randomness)
        -> Bool
    {
        guard request?.id == id else { return false }
        request = nil
        // It may have been dropped since: its user signed in again.
        guard let index = list.firstIndex(where: { $0.id == id }) else { return true }
        guard let failure else {
            list.remove(at: index)
            return true
        }
        _ = list[index].retry.failed(retryAfter: failure.retryAfter, now, using: &random)
        list[index].lastError = failure.message
        return true
    }

    /// Tells of the next sign-out that is due, gives up what has become pointless, and makes way for a sign-in.
    ///
    /// - Parameters:
    ///   - isHeld: no request begins now.
    ///   - maySignIn: whether a sign-in that was received may turn out to be this user's.
    mutating func advance(_ now: Moment, isHeld: Bool, _ maySignIn: (Identity) -> Bool) -> [Effect] {
        var effects: [Effect] = []
        for revocation in list where revocation.id != request?.id {
            if revocation.endsAt <= now.uptime {
                effects += giveUp(revocation, because: "its session has ended by itself")
            } else if revocation.retry.failures >= RenewalPolicy.mostRevocationAttempts {
                effects += giveUp(revocation, because: "\(revocation.retry.failures) attempts have failed")
            }
        }
        if let request {
            guard !request.isInterrupted, let told = list.first(where: { $0.id == request.id }),
                maySignIn(told.identity)
            else { return effects }
            self.request?.isInterrupted = true
            return effects + [.interrupt(request.id)]
        }
        guard !isHeld, let next = list.firstIndex(where: { $0.isDue(now) && !maySignIn($0.identity) }) else {
            return effects
        }
        list[next].retry.begin(now)
        let told = list[next]
        request = Request(id: told.id)
        return effects + [.revoke(told.id, told.identity, with: told.secrets)]
    }

    /// The network may have come back. A resume and a step of the clock shorten no pause here.
    mutating func hurry(_ now: Moment, using random: inout Randomness) {
        for index in list.indices { list[index].retry.hurry(now, using: &random) }
    }

    private mutating func giveUp(_ revocation: Revocation, because reason: String) -> [Effect] {
        list.removeAll { $0.id == revocation.id }
        let last = revocation.lastError.map { "; the last attempt: \($0)" } ?? ""
        let text = "The provider was not told that user \(revocation.identity.userId) signed out: \(reason)\(last)"
        return [.report(.revocationGivenUp(text))]
    }

    // MARK: What can be seen

    /// Whether the provider is being told at this moment.
    var isTelling: Bool { request != nil }

    /// When the provider is told next, if only time is missing.
    func dueAt(isHeld: Bool, _ maySignIn: (Identity) -> Bool) -> Uptime? {
        guard request == nil, !isHeld else { return nil }
        return list.filter { !maySignIn($0.identity) }.compactMap(\.dueAt).min()
    }
}
