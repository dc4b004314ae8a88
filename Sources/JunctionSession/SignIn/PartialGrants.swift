/// The partial grants of sign-ins and renewals, which the daemon keeps until it can use or revoke them.
///
/// | a grant | event | then |
/// |---|---|---|
/// | is being written | the write ends | its attempt sends the next request |
/// | waits | an attempt with the same credential begins | that attempt continues with it |
/// | is used | its attempt succeeds | it is dropped |
/// | is used or waits | its attempt is refused; two hours pass without one; too many grants wait; a sign-out; what it would complete ends | it is revoked |
struct PartialGrants: Hashable, Sendable {
    /// The oldest first.
    private var list: [Kept] = []
    /// The attempts whose next request waits for the write of their grant.
    private var held: [AttemptID: PersistenceQueue.Update] = [:]

    fileprivate struct Kept: Hashable, Sendable {
        let secrets: SecretRef
        var endsAt: Uptime
        var purpose: StoredPartialGrant.Purpose
        /// The attempt that brought the grant, or the last one that continued with it.
        var attempt: AttemptID?
    }

    /// The time for which a grant waits for the next attempt with its credential, or for the next poll. The longest pause
    /// that a provider may demand between two attempts is half of it.
    static let longestWait: Duration = RenewalPolicy.acceptedRetryAfter.upperBound * 2
    /// The largest number of kept grants, without that of a device sign-in.
    static let most = 2

    /// Takes over the grants of a record. Returns the end of that of the device sign-in, if there is one.
    mutating func resume(
        _ stored: [StoredPartialGrant],
        _ secrets: [SecretRef],
        hasDeviceSignIn: Bool,
        writtenAt: WallTime,
        at now: Moment
    ) -> Uptime? {
        let reading = now.notBefore(writtenAt)
        list = zip(stored, secrets).map { stored, ref in
            Kept(
                secrets: ref,
                endsAt: now.uptime + min(stored.expiresAt.left(writtenAt: writtenAt, reading), Self.longestWait),
                purpose: stored.purpose == .deviceSignIn && !hasDeviceSignIn ? .signIn : stored.purpose
            )
        }
        return list.first(where: \.isOfDeviceSignIn)?.endsAt
    }

    /// Lets a poll continue with the grant of the device sign-in, if there is one.
    mutating func useGrantOfDeviceSignIn(by attempt: AttemptID) {
        guard let index = list.firstIndex(where: \.isOfDeviceSignIn) else { return }
        list[index].attempt = attempt
    }

    /// Continues with the grant of an earlier attempt, which has spent the credential. Returns whether the record changes.
    mutating func use(
        _ secrets: SecretRef,
        by attempt: AttemptID,
        for purpose: StoredPartialGrant.Purpose,
        _ now: Moment
    ) -> Bool {
        guard let index = list.firstIndex(where: { $0.secrets == secrets }) else { return false }
        list[index].attempt = attempt
        // The caller has returned for the grant, so its time begins again.
        guard !list[index].isOfDeviceSignIn else { return false }
        (list[index].purpose, list[index].endsAt) = (purpose, now.uptime + Self.longestWait)
        return true
    }

    /// Keeps the grant of an attempt in place of its earlier one. `update` is the write of the grant.
    ///
    /// - Parameter inFlight: the attempts whose grants stay.
    /// - Returns: a grant that exceeds the limit and has to be revoked.
    mutating func keep(
        _ secrets: SecretRef,
        of attempt: AttemptID,
        for purpose: StoredPartialGrant.Purpose,
        until update: PersistenceQueue.Update,
        inFlight: [AttemptID],
        _ now: Moment
    ) -> SecretRef? {
        list.removeAll { $0.attempt == attempt }
        let endsAt = now.uptime + Self.longestWait
        list.append(Kept(secrets: secrets, endsAt: endsAt, purpose: purpose, attempt: attempt))
        held[attempt] = update
        guard list.count(where: { !$0.isOfDeviceSignIn }) > Self.most else { return nil }
        return list.firstIndex { $0.isWaiting(beside: inFlight) }.map { list.remove(at: $0).secrets }
    }

    /// Ends the wait of the attempts whose grant has been written. Returns them.
    mutating func release(where hasEnded: (PersistenceQueue.Update) -> Bool) -> [AttemptID] {
        let released = held.filter { hasEnded($0.value) }.keys.sorted { $0.number < $1.number }
        for attempt in released { held[attempt] = nil }
        return released
    }

    // MARK: Dropping

    /// Drops and returns the grant of a decided attempt.
    mutating func drop(of attempt: AttemptID) -> SecretRef? {
        list.firstIndex { $0.attempt == attempt }.map { list.remove(at: $0).secrets }
    }

    /// Drops and returns the grants whose purpose has ended.
    mutating func drop(for purpose: StoredPartialGrant.Purpose) -> [SecretRef] {
        defer { list.removeAll { $0.purpose == purpose } }
        return list.filter { $0.purpose == purpose }.map(\.secrets)
    }

    /// Drops and returns the grants for which no attempt has come in time.
    mutating func expire(inFlight: [AttemptID], _ now: Moment) -> [SecretRef] {
        let over = list.filter { $0.isWaiting(beside: inFlight) && $0.endsAt <= now.uptime }
        list.removeAll(where: over.contains)
        return over.map(\.secrets)
    }

    /// Drops and returns every grant and every attempt that waits for a write.
    mutating func dropAll() -> (grants: [SecretRef], held: [AttemptID]) {
        defer { list = [] }
        return (secrets, release { _ in true })
    }

    // MARK: Queries

    func isKept(of attempt: AttemptID) -> Bool { list.contains { $0.attempt == attempt } }

    func endsAt(inFlight: [AttemptID]) -> Uptime? {
        list.filter { $0.isWaiting(beside: inFlight) }.map(\.endsAt).min()
    }

    var secrets: [SecretRef] { list.map(\.secrets) }

    /// Returns the grants for a record that is written at this moment, in the order of `secrets`.
    func stored(at writing: Moment) -> [StoredPartialGrant] {
        list.map { StoredPartialGrant(expiresAt: writing.wall(at: $0.endsAt), purpose: $0.purpose) }
    }
}

extension PartialGrants.Kept {
    fileprivate var isOfDeviceSignIn: Bool { purpose == .deviceSignIn }

    /// Whether the grant waits for an attempt. One of the device sign-in ends with that sign-in.
    fileprivate func isWaiting(beside inFlight: [AttemptID]) -> Bool {
        !isOfDeviceSignIn && !(attempt.map(inFlight.contains) ?? false)
    }
}
