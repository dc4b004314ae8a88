/// The ended sessions and unused grants that the daemon has yet to revoke at the provider: one at a time, in the
/// background, for a limited time.
///
/// | a revocation | until |
/// |---|---|
/// | waits | it is due, no other revocation and no poll is in flight, no change is being written, and no pending sign-in may be its user's |
/// | is in flight | the provider answers, or a sign-in that may be its user's interrupts it |
/// | is dropped | its user has signed in again |
/// | is given up | the token that authenticates it has ended, or a day has passed, or too many attempts have failed, or too many wait |
///
/// Revocations are kept in memory only: a sign-out leaves no secret on disk, and a revocation needs one. The daemon
/// waits for a request that is in flight only when the process ends.
struct Revocations: Hashable, Sendable {
    private(set) var list: [Revocation] = []
    private var request: Request?
    /// The requests that a sign-out or a switch has overtaken, each with its user if that is already known. Their
    /// answers may bring a session, which the daemon revokes.
    private(set) var overtaken: [AttemptID: Identity?] = [:]

    /// A session or a grant that the provider has not revoked yet.
    struct Revocation: Hashable, Sendable {
        /// `nil` for a partial grant, whose user is not known.
        var identity: Identity?
        /// The secrets that authenticate the sign-out.
        var secrets: SecretRef
        var retry = Retry()
        /// The end of the token that authenticates the revocation, or of a day if that does not limit it.
        var endsAt: Uptime
        /// Whether it ends after a day, although the session may last longer at the provider.
        var lastsOneDay: Bool
        var lastError: String?

        var isInFlight: Bool { retry.lastTried != nil && retry.time == nil }

        /// The time of the next attempt, or the end of the token if that comes first.
        var dueAt: Uptime? { retry.time.map { min($0, endsAt) } }

        func isDue(_ now: Moment) -> Bool { dueAt.map { $0 <= now.uptime } ?? true }
    }

    /// The request in flight. Its revocation may have been dropped meanwhile.
    private enum Request: Hashable, Sendable {
        case sent
        case interrupted
    }

    // MARK: Revoking

    /// Adds an ended session or an unused grant.
    ///
    /// - Parameter life: the time in which the daemon tries to revoke it: the rest of its token's life, or a day.
    mutating func add(_ identity: Identity?, _ secrets: SecretRef, goodFor life: Duration, _ now: Moment) {
        guard life > .zero else { return }
        let lastsOneDay = life == RenewalPolicy.longestRevocation
        list.append(
            Revocation(identity: identity, secrets: secrets, endsAt: now.uptime + life, lastsOneDay: lastsOneDay)
        )
    }

    /// Drops the revocations of this user. A provider may have one session for a user and a device, so revoking the old
    /// one could end the new one.
    mutating func drop(_ identity: Identity) {
        list.removeAll { $0.identity?.isSameUser(as: identity) == true }
    }

    /// Records an overtaken request, with the user whose session it may bring, if that is known.
    mutating func overtake(_ attempt: AttemptID, of identity: Identity?) {
        overtaken.updateValue(identity, forKey: attempt)
    }

    /// Removes an overtaken request whose outcome has arrived. Returns `nil` if the request was not overtaken.
    mutating func arrived(_ attempt: AttemptID) -> Identity?? {
        overtaken.removeValue(forKey: attempt)
    }

    // MARK: Requests

    /// Handles the end of a revocation request. Without a failure, the revocation is done or has become impossible.
    mutating func ended(_ failure: Unavailability?, _ now: Moment, using random: inout Randomness) {
        request = nil
        // The user may have signed in again meanwhile, which drops the revocation.
        guard let index = list.firstIndex(where: \.isInFlight) else { return }
        guard let failure else {
            list.remove(at: index)
            return
        }
        list[index].retry.failed(retryAfter: failure.retryAfter, now, using: &random)
        list[index].lastError = failure.message
    }

    /// Begins the next revocation that is due, gives up pointless ones, and interrupts a request in favour of a
    /// sign-in.
    ///
    /// - Parameters:
    ///   - isHeld: whether no request may begin now.
    ///   - maySignIn: whether a pending sign-in may turn out to be this user's.
    mutating func advance(_ now: Moment, isHeld: Bool, _ maySignIn: (Identity?) -> Bool) -> [Effect] {
        var effects: [Effect] = []
        while list.count > RenewalPolicy.mostRevocations, let eldest = list.firstIndex(where: { !$0.isInFlight }) {
            effects += giveUp(eldest, because: "more than \(RenewalPolicy.mostRevocations) revocations wait")
        }
        for index in list.indices.reversed() where !list[index].isInFlight {
            let revocation = list[index]
            if revocation.endsAt <= now.uptime {
                let reason = revocation.lastsOneDay ? "a day has passed" : "its session has ended by itself"
                effects = giveUp(index, because: reason) + effects
            } else if revocation.retry.failures >= RenewalPolicy.mostRevocationAttempts {
                effects = giveUp(index, because: "\(revocation.retry.failures) attempts have failed") + effects
            }
        }
        if let request {
            guard request == .sent, let inFlight = list.first(where: \.isInFlight), maySignIn(inFlight.identity) else {
                return effects
            }
            self.request = .interrupted
            return effects + [.interruptRevocation]
        }
        guard !isHeld, let next = list.firstIndex(where: { $0.isDue(now) && !maySignIn($0.identity) }) else {
            return effects
        }
        list[next].retry.begin(now)
        request = .sent
        return effects + [.revoke(list[next].identity, with: list[next].secrets)]
    }

    /// Shortens the pauses, because the network may have returned. A resume and a step of the clock shorten no pause
    /// here.
    mutating func shortenPause(_ now: Moment, using random: inout Randomness) {
        for index in list.indices { list[index].retry.shortenPause(now, using: &random) }
    }

    private mutating func giveUp(_ index: Int, because reason: String) -> [Effect] {
        let revocation = list.remove(at: index)
        let last = revocation.lastError.map { "; the last attempt: \($0)" } ?? ""
        let what = revocation.identity.map { "The session of user \($0.userId)" } ?? "An unused grant"
        let text = "\(what) may still be valid at the provider: \(reason)\(last)"
        return [.report(.revocationGivenUp(text))]
    }

    // MARK: Queries

    var isRequestInFlight: Bool { request != nil }

    /// Returns the time of the next revocation, if it waits only for its time.
    func dueAt(isHeld: Bool, _ maySignIn: (Identity?) -> Bool) -> Uptime? {
        guard request == nil, !isHeld else { return nil }
        return list.filter { !maySignIn($0.identity) }.compactMap(\.dueAt).min()
    }
}
