import JunctionSecret
import JunctionSession

/// The process: its start with the content of the disk, and its end.
extension Simulation {
    // MARK: Begin

    /// Starts the process with the content of the disk.
    func start() {
        guard let disk else { return begin(.absent) }
        if restarts == 0, !keepsNothing, chance(10) == 0 { return startUnreadable(disk) }
        model.expectRefreshRetry(ofRecord: disk, self)
        begin(.restored(disk.record, disk.secrets, damaged: chance(8) == 0 ? "session.sealed.tmp-1" : nil))
        checkRefreshRetryAtStart(disk.record)
        // The previous process may have died between the approval and the write, and the clock may be wrong.
        let caller = disk.record.deviceSignIn?.caller.map { Int($0.user) }
        let isWithdrawn = caller.map(model.withdrawn.contains) ?? false
        if disk.record.deviceSignIn != nil, !isWithdrawn, snapshot.facts.authorization == nil {
            fail("the codes of the disk are dropped before the provider was asked")
        }
    }

    private func begin(_ restoration: Restoration) {
        life = ProcessLife(self, seed: random.next())
        if case .unreadable = restoration { model.begin(nil, self) } else { model.begin(disk, self) }
        let life = life!
        on { owner in
            owner.beforeSignOut { [self] in life.isOver ? false : endBootstrapCredentials() }
            owner.start(with: restoration) { [self] in !model.withdrawn.contains(Int($0.user)) }
        }
        check()
    }

    /// Starts with a record that this process cannot read. The next one can.
    private func startUnreadable(_ disk: Disk) {
        coverage.note(.unreadableStarts)
        let isLocked = chance(2) == 0
        let header = Restoration.Header(
            generation: disk.record.generation,
            edition: disk.record.edition,
            provider: "junction",
            scheme: scheme,
            state: .established,
            userId: nil
        )
        let unreadable = Restoration.Unreadable(
            status: isLocked ? .locked : .unavailable,
            remedy: "Look at the state directory",
            header: isLocked ? header : nil,
            canSignIn: false
        )
        // Without a key a tombstone can be written. In an unreadable directory nothing can.
        (keepsNothing, diskIsFull) = (true, !isLocked)
        begin(.unreadable(unreadable))
        for _ in 0..<6 {
            switch chance(3) {
            case 0: signOut()
            case 1: signIn()
            default: identify()
            }
            try? runWorld(until: time + Int64(chance(2_000)))
        }
        endLife()
        diskIsFull = false
        start()
        keepsNothing = false
    }

    // MARK: End

    /// Kills the process before or just after the write at the store has reached the disk. Calls that left may still
    /// arrive.
    func kill() {
        noteKill()
        let hasWrongClock = chance(6) == 0
        if hasWrongClock { lastStep = time }
        model.killed(self)
        if let pendingWrite, !diskIsFull, chance(2) == 0 { put(pendingWrite) }
        for (_, call) in calls.sorted(by: { $0.key < $1.key }) where chance(2) == 0 { _ = answer(to: call) }
        endLife()
        restarts += 1
        let downtime = Int64([0, 300, 3_000, 30_000, 4_000_000][chance(5)])
        interruptions.append(time...(time + downtime))
        time += downtime
        if chance(3) == 0 { bootedAt = time - Int64(chance(60_000)) }
        if hasWrongClock {
            coverage.note(.wrongClocks)
            wallOffset += Int64(chance(200_000_000)) - 100_000_000
        }
        start()
    }

    /// Ends the process and forgets its state.
    func endLife() {
        let (calls, write) = (calls, pendingWrite)
        (self.calls, pendingWrite, waiting, handlers, bootstrapUser) = ([:], nil, [:], [:], nil)
        clearAgenda()
        life.end {
            for call in calls.values {
                call.continuation?.resume(returning: .unavailable(isAmbiguous: true, retryAfter: nil))
            }
            write?.continuation?.resume(returning: StoreFailure("The process is dead"))
        }
    }

    /// Counts the situations in which the process is killed.
    private func noteKill() {
        let facts = snapshot.facts
        let renewal = calls.values.contains { $0.kind == .renewal && !$0.isOvertaken }
        if let stored = pendingWrite?.record.session, stored.renewalUnderWay, !renewal { coverage.note(.crashNoting) }
        if renewal {
            coverage.note(.crashSending)
        } else if model.renewed != nil {
            coverage.note(.crashStoring)
        } else if model.open.map({ $0.question.reason != .missing }) ?? false {
            coverage.note(.crashAsking)
        } else if facts.renewal.phase != .inFlight {
            coverage.note(.crashIdle)
        }
        if model.granted != nil { coverage.note(.crashSigningIn) }
        if isSigningOut { coverage.note(.crashSigningOut) }
        if !facts.storage.durable { coverage.note(.crashUndurable) }
        guard facts.authorization != nil else { return }
        coverage.note(calls.values.contains { $0.kind.isPoll } ? .crashPolling : .crashAwaiting)
    }

    // MARK: Before the first process

    /// Stores a session of an earlier process: with a valid or an expired token, and perhaps with an intent that was or
    /// was not sent.
    func storeSession() {
        coverage.note(.begunSignedIn)
        let user = Self.users[chance(2)]
        let age = Int64(chance(5_000)) * 1_000
        let life = Int64([60, 600, 3_600, 86_400][chance(4)]) * 1_000
        guard case .granted(let tokens) = provider.exchange(for: user, life: life, at: time - age) else { return }
        let token = TokenFacts(
            issuedAt: WallTime(milliseconds: time - age + wallOffset),
            expiresAt: WallTime(milliseconds: time - age + life + wallOffset),
            generation: 1
        )
        var stored = StoredSession(
            identity: .user(user),
            scheme: scheme,
            externalUserId: chance(2) == 0 ? ExternalUserId("ext-" + user) : nil,
            token: token,
            renewAt: token.issuedAt + .milliseconds(life * 6 / 10)
        )
        var writtenAt = token.issuedAt
        let postponed = StoredPostponement(until: WallTime(milliseconds: time + wallOffset + Int64(chance(600_000))))
        switch chance(5) {
        case 0:
            let noted = min(age, Int64(chance(20_000)))
            stored.renewalUnderWay = true
            stored.intentCannotBeResent = scheme != .signInToken
            // An earlier release left a postponement beside the intent.
            if mode == .handler, chance(2) == 0 { stored.postponement = postponed }
            writtenAt = WallTime(milliseconds: time - noted + wallOffset)
            interruptions.append((time - noted)...time)
            if chance(2) == 0 { _ = provider.refresh(tokens.refresh, life: life, at: time - noted) }
        case 1: stored.reauthenticationPending = true
        case 2 where mode == .handler: stored.postponement = postponed
        default: break
        }
        model.obtained[tokens.access] = (time - age, -1)
        disk = Disk(
            record: SessionRecord(
                generation: 1,
                edition: 3,
                writtenAt: writtenAt,
                provider: "junction",
                content: .session(stored)
            ),
            secrets: SessionSecrets(
                accessToken: SharedSecret(text: "access:\(tokens.access)"),
                refreshToken: SharedSecret(text: "refresh:\(tokens.family):\(tokens.refresh)")
            )
        )
    }
}

extension SessionRecord {
    /// The session of the record, if it has one.
    var session: StoredSession? {
        if case .session(let stored) = content { stored } else { nil }
    }
}

extension Call.Kind {
    var isPoll: Bool {
        if case .poll = self { true } else { false }
    }
}
