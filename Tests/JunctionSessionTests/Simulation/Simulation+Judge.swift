import JunctionSecret
import JunctionSession

/// The checks after every step: what the owner shows and serves, against the disk, the provider and the model.
extension Simulation {
    func check() {
        guard broken == nil else { return }
        let facts = snapshot.facts
        judgeStanding(facts)
        judgeDurability(facts)
        judgeServable(facts)
        judgeShown(facts)
        judgeRefreshRetry()
        judgeLosses()
        // The number of requests is bounded for every behaviour of callers and handlers.
        if let first = model.sends.first, first < time - 600_000 { model.sends.removeAll { $0 < time - 600_000 } }
        if model.sends.count > 160 { fail("\(model.sends.count) requests in ten minutes") }
        // Every waiting caller waits for an event or the alarm.
        if !waiting.isEmpty, isIdle, life.alarm == nil {
            fail("\(waiting.count) callers wait, and nothing will ever happen")
        }
    }

    // MARK: Who is signed in

    /// Checks that the signed-in user changes only by a sign-out, another sign-in or a verdict of the provider.
    private func judgeStanding(_ facts: Snapshot.Facts) {
        let shown = facts.flags.contains(.signedIn) ? facts.userId : nil
        if keepsNothing { return }
        if facts.state == .terminated || facts.state == .establishing && model.isEnding && shown == nil {
            if model.held != nil, !model.isEnding, !model.mayEnd { fail("the session has ended without a verdict") }
            (model.held, model.isEnding, model.mayEnd) = (nil, false, false)
        }
        if shown != model.held?.user {
            fail("\(shown ?? "nobody") is shown as signed in, and \(model.held?.user ?? "nobody") is")
        }
        if let name = model.held?.name, shown != nil, !isBeingNamed, facts.externalUserId?.text != name {
            fail(
                "\(shown ?? "nobody") is shown as \(facts.externalUserId?.text ?? "nobody"), and is \(name ?? "nobody")"
            )
        }
        if model.isEnding, pendingWrite == nil, shown != nil { fail("a verdict has not ended its session") }
        if facts.state == .terminated || facts.state == .notLoggedIn, facts.flags.contains(.signedIn) {
            fail("signedIn is shown while nobody is")
        }
    }

    // MARK: The disk

    /// Checks that a state which is shown as durable is on the disk, and so survives a kill.
    private func judgeDurability(_ facts: Snapshot.Facts) {
        // During a sign-out the record may be newer than the snapshot.
        guard facts.storage.durable, !keepsNothing, !isSigningOut else { return }
        let record = disk?.record
        let stored = record?.session
        let shown = facts.flags.contains(.signedIn) ? facts.userId : nil
        if shown != stored?.identity.userId { fail("\(shown ?? "nobody") is not on the disk") }
        if shown != nil, facts.accessToken != stored?.token { fail("the token that is shown is not on the disk") }
        if let termination = facts.termination {
            guard case .terminated(termination, _)? = record?.content else {
                return fail("a verdict is not on the disk")
            }
        }
        // A detail changes before it is written.
        guard pendingWrite == nil else { return }
        if shown != nil, facts.externalUserId != stored?.externalUserId {
            fail("an app's name for the user is not on the disk")
        }
        if shown != nil, facts.flags.contains(.pendingReauthentication) != stored?.reauthenticationPending {
            fail("a demand for a new credential is not on the disk")
        }
        if (facts.authorization == nil) != (record?.deviceSignIn == nil) {
            fail("a sign-in that awaits approval is shown or on the disk, and not both")
        }
        if facts.renewal.phase == .postponed, stored?.postponement == nil {
            fail("a postponement is not on the disk")
        }
    }

    /// Checks that a change which is reported to a caller as durable is on the disk at that moment.
    func judgePromise(_ facts: Snapshot.Facts, to waiter: Waiter) {
        guard facts.storage.durable, !keepsNothing else { return }
        let stored = disk?.record.session
        let shown = facts.flags.contains(.signedIn) ? facts.userId : nil
        if shown != stored?.identity.userId || shown != nil && facts.accessToken != stored?.token {
            fail("a success was reported that is not on the disk")
        }
        switch waiter.kind {
        case .signIn where waiter.isDevice && shown == nil:
            if disk?.record.deviceSignIn == nil { fail("codes were reported that are not on the disk") }
        case .identify(let wanted?) where shown != nil:
            let isRenamed = waiting.values.contains { $0.isSignIn && $0.hasAnswered && $0.kind != waiter.kind }
            if stored?.externalUserId?.text != wanted, !isRenamed {
                fail("an app's name for the user was reported that is not on the disk")
            }
        case .signOut, .identify(nil):
            if disk.map({ $0.record.content != .signedOut }) ?? false {
                fail("a sign-out was reported that is not on the disk")
            }
        case .signIn, .identify, .renew, .token, .api: break
        }
    }

    // MARK: Tokens

    private func judgeServable(_ facts: Snapshot.Facts) {
        let served = life.owner.assumeIsolated { owner in
            owner.servable.flatMap { $0.isValid(for: .zero, now) ? ($0.facts, owner.served($0.facts)) : nil }
        }
        guard let (token, result) = served else { return }
        guard case .success(let given) = result else { return fail("a token that is servable is not served") }
        if isSigningOut { fail("a token is served while somebody signs out") }
        if token != facts.accessToken { fail("another token is served than is shown") }
        judgeServed(given.secret.number, to: given.userId)
    }

    /// Checks that a served token belongs to its user, is valid, and was not granted under a withdrawn right.
    func judgeServed(_ access: Int?, to user: String) {
        guard let access, let truth = provider.access[access] else { return fail("a token was served that nobody has") }
        if truth.user != user || model.held?.user != user { fail("somebody else's token was served") }
        if isLifeKnown(of: access), time >= truth.endsAt { fail("a dead token was served") }
        if model.unwanted.contains(truth.family) { fail("somebody is signed in by a right that was withdrawn") }
    }

    /// Whether the end of the token is known on the monotonic clock. The wall clock may have been set between two
    /// processes.
    func isLifeKnown(of access: Int) -> Bool {
        model.obtained[access].map { $0.restarts == restarts || lastStep < $0.at } ?? false
    }

    // MARK: What is shown

    private func judgeShown(_ facts: Snapshot.Facts) {
        if let notBefore = facts.renewal.notBefore, life.alarm.map({ $0 > now.wall }) ?? true {
            if notBefore <= now.wall { fail("\(facts.renewal.phase) is shown with a time in the past") }
            // A provider's Retry-After, with its spread, is at most one hour.
            if facts.renewal.phase == .backingOff, notBefore - now.wall > .seconds(3_600) {
                fail("a retry waits for more than an hour")
            }
        }
        if facts.storage.status == .damaged, facts.storage.durable, pendingWrite == nil, !keepsNothing,
            let record = disk?.record, record.generation > model.restoredGeneration, lastSignOut == record.generation
        {
            fail("a sign-out is told as damaged although it has cleared the quarantine")
        }
    }

    // MARK: Refresh retries

    private func judgeRefreshRetry() {
        guard let token = model.window?.token else { return }
        guard model.isStanding(token, self) else { return model.window = nil }
        // While a grant or its withdrawal waits for the disk, no refresh retry is due. If the caller loses its right
        // meanwhile, the session before the grant stays, and so does its window.
        if model.granted != nil || model.isWithdrawing { model.window?.retryBefore = nil }
        if let before = model.window?.retryBefore, time > before { fail("an unknown outcome is not retried in time") }
    }

    /// Checks that an open intent is retried at once, with any other stored state.
    func checkRefreshRetryAtStart(_ record: SessionRecord) {
        guard let stored = record.session, stored.renewalUnderWay, !stored.intentCannotBeResent,
            !stored.reauthenticationPending, !calls.values.contains(where: { $0.kind == .renewal && $0.given == nil })
        else { return }
        fail("an open intent is not retried at start")
    }

    /// Checks that a family is never revoked because of the daemon, if the provider has a grace.
    private func judgeLosses() {
        guard provider.losses.count > model.judgedLosses else { return }
        for loss in provider.losses[model.judgedLosses...] {
            guard let reason = reason(for: loss) else {
                fail("a login is lost: the refresh retry came \(loss.at - loss.consumedAt) ms after the rotation")
                continue
            }
            coverage.note(reason)
        }
        model.judgedLosses = provider.losses.count
    }

    /// Returns the reason why no daemon could have kept this login. `nil` if the daemon has lost it.
    private func reason(for loss: SimulatedProvider.Loss) -> Coverage.Kind? {
        if provider.grace == .none { return .lossesWithoutGrace }
        let span = loss.consumedAt...(loss.consumedAt + provider.grace.milliseconds)
        // The session was ending when the process died, so its login was no longer needed.
        if model.givenUp.contains(loss.token) { return .lossesUnwanted }
        // The disk refused the new tokens, and the process died.
        if model.hasLostMemory { return .lossesWithMemory }
        // The machine slept or the process was dead during the grace.
        if interruptions.contains(where: { $0.overlaps(span) }) { return .lossesWhileAway }
        // A refresh retry left in time and had no effect.
        let sends = model.sendsOfToken[loss.token] ?? []
        if sends.contains(where: { $0 > span.lowerBound && $0 <= span.upperBound }) { return .lossesAfterRetry }
        // The outcome became unknown when the grace was nearly over.
        let noticedAt = (model.noticed[loss.token] ?? []).first { $0 >= loss.consumedAt } ?? .max
        if noticedAt > span.upperBound - 2_300 { return .lossesNoticedLate }
        let recent = model.refreshRetryTimes.count { $0 > loss.consumedAt - 600_000 && $0 <= loss.at }
        return recent >= 5 ? .lossesBeyondLimit : nil
    }
}
