import JunctionTesting

@testable import JunctionSession

/// What the world does: callers, apps, the provider, the disk, the clocks, and the end of the process.
extension Simulation {
    // MARK: Stimuli

    mutating func stimulate() throws(Broken) {
        let draw = chance(100)
        trace?.append(
            "\(time): stimulus \(draw), \(weather), disk \(diskIsFull ? "full" : diskIsSlow ? "slow" : "fine")"
        )
        switch draw {
        case 0..<12: if chance(5) == 0 { try enrol() } else { try signIn() }
        case 12..<15: try signOut()
        case 15..<22: try identify()
        case 22..<28: try changeHandlers()
        case 28..<40:
            let validity = Duration.seconds(chance(3) == 0 ? chance(2_000) : 0)
            let request = newRequest()
            try perform(machine.tokenRequested(request, minimumValidity: validity, by: caller(), now: now))
        case 40..<54: try requestRenewal()
        case 54..<58:
            let generation = machine.ledger.generation - min(machine.ledger.generation, UInt64(chance(2)))
            guard chance(6) > 0 else { return try hearVerdict(on: generation) }
            let request = newRequest()
            try perform(
                machine.authorizationRejected(request, generation: generation, by: caller(), now: now)
            )
        case 58..<70: weather = Weather.allCases[chance(Weather.allCases.count)]
        case 70..<75: try stepClock()
        case 75..<77: try suspend()
        case 77..<78: try changeNetwork()
        case 78..<82: diskIsFull.toggle()
        case 82..<85: diskIsSlow.toggle()
        case 85..<88: changeUsers()
        case 88..<90: try withdrawRight()
        default: try crash()
        }
    }

    /// An API call is answered with a ban: it ends the session that it was made with, at once, and no other.
    private mutating func hearVerdict(on generation: UInt64) throws(Broken) {
        let before = machine
        let isTheSame = before.standing.session != nil && generation >= before.signedInSince
        let isStanding = isTheSame && before.ledger.change == nil
        if isTheSame, case .rotation? = before.ledger.change?.kind {
            // It is applied to what is being written.
            try perform(
                machine.apiCallJudged(Verdict(code: "400312", message: "Banned"), generation: generation, now: now)
            )
            coverage.note(.apiVerdicts)
            window = nil
            return
        }
        let verdict = Verdict(code: "400312", message: "The user is banned")
        try perform(machine.apiCallJudged(verdict, generation: generation, now: now))
        guard isStanding else {
            if machine != before { throw Broken(description: "a verdict on what is over has changed what stands") }
            return
        }
        coverage.note(.apiVerdicts)
        window = nil
        // Beside a write that does not end it counts at once.
        guard machine.ledger.isEnding || machine.standing.session == nil else {
            throw Broken(description: "a verdict has not ended its session")
        }
    }

    /// `session.renew` makes one attempt in ten seconds while it fails, whatever the failure was.
    private mutating func requestRenewal() throws(Broken) {
        let before = machine
        // It passes what the provider has demanded, if it makes an attempt.
        let pause = demanded.removeValue(forKey: .renewal)
        try perform(machine.renewRequested(newRequest(), by: caller(), now: now))
        // Whoever causes a call is remembered, and whoever has caused none for a while is not.
        if machine.budget != before.budget,
            machine.budget.remembered > callers.values.count(where: { $0 >= time - 28_800_000 })
        {
            throw Broken(description: "users who call no more are not forgotten")
        }
        guard before.renewal.isResting, before.ledger.change == nil, !machine.renewal.isResting else {
            demanded[.renewal] = pause
            return
        }
        if time < renewBarredUntil { throw Broken(description: "session.renew makes two attempts in ten seconds") }
        renewBarredUntil = time + 10_000
    }

    /// Some local user, who asks now.
    mutating func caller() -> UInt32 {
        let uid = UInt32(chance(1_000))
        callers[uid] = time
        return uid
    }

    private mutating func signIn() throws(Broken) {
        let user = Self.users[chance(2)]
        let request = newRequest()
        wanted[request] = user
        try perform(machine.signInRequested(request, facts(of: user), by: caller(), now: now))
    }

    private mutating func facts(of user: String) -> CredentialFacts {
        if scheme == .signInToken, chance(4) == 0 { return .device }
        if scheme == .signInToken, chance(8) == 0 { return .linkCode }
        var facts = CredentialFacts(scheme: scheme, subject: .user(.user(user)))
        facts.needsHandler = mode == .handler && chance(4) == 0
        return facts
    }

    private mutating func signOut() throws(Broken) {
        let before = waiting.subtracting(signOuts)
        let request = newRequest()
        signOuts.insert(request)
        coverage.note(.signOuts)
        let ends = endEnrolment()
        try perform(machine.signOutRequested(request, by: 1_000, endsBootstrapCredential: ends, now: now))
        // Invariant 10: whatever was received before it is over.
        if enrolling != nil { throw Broken(description: "a sign-out left a credential to be tried again") }
        if !waiting.isDisjoint(with: before) {
            throw Broken(description: "a sign-out left requests waiting that came before it")
        }
    }

    // MARK: A credential of the service manager

    /// It is tried by a sign-in like any other, as the daemon has it.
    mutating func enrol() throws(Broken) {
        guard machine.identity == nil, enrolling == nil, !keepsNothing else { return }
        enrolling = Self.users[chance(2)]
        enrolRetry = Retry()
        try tryEnrolment()
    }

    mutating func tryEnrolment() throws(Broken) {
        guard let user = enrolling else { return }
        guard machine.identity == nil else {
            enrolling = nil
            return
        }
        let request = newRequest()
        (wanted[request], enrolRequest) = (user, request)
        try perform(machine.signInRequested(request, facts(of: user), by: caller(), now: now))
    }

    mutating func endEnrolmentTry(_ refusal: Refusal?) throws(Broken) {
        guard enrolling != nil else { return }
        if let refusal, refusal.kind == .providerUnavailable {
            let request = newRequest()
            try perform(
                machine.retryRequested(request, after: enrolRetry, retryAfter: refusal.retryAfter, now: now)
            )
        } else {
            enrolling = nil
        }
    }

    /// A sign-out ends it before anything of the sign-out is written.
    private mutating func endEnrolment() -> Bool {
        guard enrolling != nil else { return false }
        coverage.note(.enrolmentsOvertaken)
        (enrolling, enrolRequest) = (nil, nil)
        return true
    }

    private mutating func identify() throws(Broken) {
        let externalUserId = chance(8) == 0 ? nil : ExternalUserId("ext-" + Self.users[chance(2)])
        let request = newRequest()
        if externalUserId == nil { signOuts.insert(request) }
        let ends = externalUserId == nil && endEnrolment()
        try perform(
            machine.identifyRequested(
                request,
                externalUserId: externalUserId,
                by: caller(),
                endsBootstrapCredential: ends,
                now: now
            )
        )
    }

    mutating func answerAsApp(_ request: RequestID) throws(Broken) {
        guard waiting.contains(request) else { return }
        let user = Self.users[chance(2)]
        wanted[request] = user
        let answer: Result<CredentialFacts, Refusal> =
            chance(6) == 0 ? .failure(Refusal(.invalidCredential, "No credential")) : .success(facts(of: user))
        try perform(machine.identifyAnswered(request, answer, now: now))
    }

    private mutating func changeHandlers() throws(Broken) {
        guard mode == .handler || chance(4) == 0 else { return }
        if registered.isEmpty || chance(3) > 0 {
            try register()
        } else {
            try unregister(registered[chance(registered.count)])
        }
    }

    mutating func register() throws(Broken) {
        lastHandler += 1
        // Few local users have many handlers.
        let handler = HandlerID(number: lastHandler, uid: UInt32(1_000 + lastHandler % 3))
        registered.append(handler)
        try perform(machine.handlerRegistered(handler, now: now))
    }

    private mutating func unregister(_ handler: HandlerID) throws(Broken) {
        registered.removeAll { $0 == handler }
        try perform(machine.handlerGone(handler, now: now))
    }

    /// Answers well, is unable, gives what is refused, goes, answers another question, or answers twice.
    mutating func answerAsHandler(_ handler: HandlerID, _ question: RenewalQuestion) throws(Broken) {
        guard registered.contains(handler) else { return }
        if now.wall > question.deadline { coverage.note(.lateHandlers) }
        let user = question.userId ?? Self.users[chance(2)]
        let secret = Secret(owner: user, isGood: isHealed || chance(4) > 0)
        let answer: HandlerAnswer =
            switch isHealed ? 1 : chance(9) {
            case 0, 1, 2: question.reason == .missing ? .authToken(put(secret)) : .renew
            case 3, 4: .authToken(put(secret))
            case 5: .signature(put(secret))
            default: .unable
            }
        if !isHealed, chance(8) == 0 {
            coverage.note(.handlersVanished)
            return try unregister(handler)
        }
        if !isHealed, chance(10) == 0 {
            let other = Attempt(number: question.attempt.number &+ 1)
            try perform(machine.handlerAnswered(handler, other, answer, now: now))
        }
        if case .authToken(let ref) = answer { shelf[ref] = secret }
        if case .signature(let ref) = answer { shelf[ref] = secret }
        hasAsked = false
        let before = machine
        try perform(machine.handlerAnswered(handler, question.attempt, answer, now: now))
        // Invariant 4: the answer was waited for, and nobody else was asked after it: nobody could.
        if machine != before, answer != .unable { quietUntil = nil }
        if machine != before, answer == .unable, question.reason != .missing, !hasAsked, machine.renewal.isResting {
            quietUntil = time + 600_000
            coverage.note(.postponements)
        }
        if chance(4) == 0 { try perform(machine.handlerAnswered(handler, question.attempt, .unable, now: now)) }
    }

    // MARK: The provider

    /// A call leaves. It may take long, never arrive, or be answered after we have given it up.
    mutating func send(_ attempt: Attempt, _ call: Call) {
        calls[attempt] = call
        plan(.timeout(attempt), after: 10_000)
        if case .poll(let code) = call.kind, chance(6) == 0 { plan(.personDecides(code), after: Int64(chance(9_000))) }
        let delay: Int64
        switch weather {
        case .unreachable:
            return plan(
                .answer(attempt, .unavailable(isAmbiguous: false, retryAfter: nil)),
                after: Int64(chance(5_000))
            )
        case .lossy where chance(4) == 0:
            return
        case .slow: delay = Int64(chance(9_000))
        case .fine, .flaky, .busy, .lossy, .gateway: delay = Int64(chance(200))
        }
        plan(.arrival(attempt), after: delay)
    }

    /// The call arrives: the provider acts on it, or does not, and answers, or does not.
    mutating func arrive(_ attempt: Attempt) {
        guard let call = calls[attempt] else { return }
        let back: Int64 = weather == .slow ? Int64(chance(6_000)) : Int64(chance(200))
        func reply(_ answer: Answer) -> Coming { .answer(attempt, answer) }
        switch (weather, chance(10)) {
        case (.gateway, _):
            plan(reply(.unexplained), after: back)
        case (.busy, 0..<9), (.flaky, 0..<3):
            let asked = chance(3) == 0 ? Duration.seconds(1 + chance(4_000)) : nil
            plan(reply(.unavailable(isAmbiguous: false, retryAfter: asked)), after: back)
        case (.flaky, 3), (.lossy, 0..<2):
            // A 502 before anything was done, or the connection is cut.
            plan(reply(.unavailable(isAmbiguous: true, retryAfter: nil)), after: back)
        case (.flaky, 4..<6), (.lossy, 2..<5):
            // It is done, and then answered with a 502, with nonsense, or with a wish to be left alone.
            _ = answer(to: call)
            let asked = chance(2) == 0 ? Duration.seconds(1 + chance(900)) : nil
            plan(reply(.unavailable(isAmbiguous: true, retryAfter: asked)), after: back)
        case (.lossy, 5):
            // It is done, and the answer is lost.
            _ = answer(to: call)
        case (.flaky, 6) where call.isRenewal && call.given == nil && call.refresh != nil:
            // It is done, and all of the answer but the refresh token is odd.
            let answer = answer(to: call)
            if case .verdict(.granted(let tokens)) = answer {
                plan(reply(.successor(tokens)), after: back)
            } else {
                plan(reply(answer), after: back)
            }
        default:
            plan(reply(answer(to: call)), after: back)
        }
    }

    private mutating func answer(to call: Call) -> Answer {
        let life = Int64([20, 60, 600, 3_600, 86_400][chance(5)]) * 1_000
        switch call.kind {
        case .authorization: return .codes(provider.authorize(at: time))
        case .poll(let code):
            return switch provider.poll(code, life: life, at: time) {
            case .granted(let tokens): .verdict(.granted(tokens))
            case .failed(let failure): .undecided(failure)
            }
        case .exchange, .renewal: break
        }
        if let given = call.given {
            guard given.isGood, given.owner == call.user else { return call.isRenewal ? .answerRefused : .refused }
            return .verdict(
                scheme == .signInToken
                    ? provider.exchange(for: call.user, life: life, at: time)
                    : provider.renew(call.user, life: life, at: time)
            )
        }
        guard call.isRenewal else { return .verdict(provider.exchange(for: call.user, life: life, at: time)) }
        guard scheme == .signInToken, let refresh = call.refresh else {
            return .verdict(provider.renew(call.user, life: life, at: time))
        }
        return .verdict(provider.refresh(refresh, life: life, at: time))
    }

    /// The outcome of a call is here.
    mutating func deliver(_ answer: Answer, to attempt: Attempt) throws(Broken) {
        guard let call = calls.removeValue(forKey: attempt) else { return }
        if case .unavailable(true, _) = answer, call.isRenewal { noteAmbiguity(of: call) }
        switch answer {
        case .codes(let codes):
            let begun = ApprovalBegun(
                codes: put(Secret(owner: "codes", code: codes.number)),
                life: Life(from: call.start, lasting: .milliseconds(codes.life)),
                interval: .milliseconds(codes.interval)
            )
            coverage.note(.codesGiven)
            try perform(machine.approvalBegan(attempt, begun, now: now))
        case .undecided(let failure):
            if failure != .pending { coverage.note(.approvalsRefused) }
            try perform(machine.pollFailed(attempt, failure, now: now))
        case .verdict(.granted(let tokens)):
            if machine.revocations.overtaken[attempt] != nil { coverage.note(.overtakenGrants) }
            if call.isRenewal, machine.standing.session?.stored.isReauthenticationPresumed == true {
                coverage.note(.presumedHealed)
            }
            if !call.isRenewal, call.expected ?? tokens.user == tokens.user, machine.signIn.isSent(attempt), !isHealed,
                chance(4) == 0
            {
                return try grantUnnamed(tokens, call, attempt)
            }
            unnamedTokens.remove(tokens.refresh)
            noteUnwanted(tokens, call, attempt)
            obtained[tokens.access] = (time, restarts)
            noteLogin(tokens)
            let secret = Secret(owner: tokens.user, refresh: tokens.refresh, access: tokens.access)
            let granted = Granted(
                identity: .user(tokens.user),
                scheme: scheme,
                life: Life(from: call.start, lasting: .milliseconds(tokens.life)),
                secrets: put(secret)
            )
            if case .poll = call.kind, machine.signIn.isSent(attempt) { coverage.note(.approvals) }
            if call.isRenewal {
                try perform(machine.renewalSucceeded(attempt, granted, now: now))
            } else if let expected = call.expected, expected != tokens.user {
                noteEnd(of: tokens.user)
                try perform(machine.exchangeFailed(attempt, .otherUser(.user(tokens.user)), now: now))
            } else {
                try perform(machine.exchangeSucceeded(attempt, granted, now: now))
            }
        case .successor(let tokens):
            try deliverSuccessor(tokens, call, attempt)
        case .verdict(.deleted):
            if call.isRenewal {
                noteEnd(of: call.user)
                let verdict = RenewalFailure.terminated(code: "invalid_token", message: "The user was deleted")
                try perform(machine.renewalFailed(attempt, verdict, now: now))
            } else {
                try perform(machine.exchangeFailed(attempt, .refused("invalid_token"), now: now))
            }
        case .verdict(.reauthentication):
            coverage.note(.reauthentications)
            if call.isRenewal {
                noteEnd(of: call.user)
                try perform(machine.renewalFailed(attempt, .reauthenticationRequired, now: now))
            } else {
                try perform(machine.exchangeFailed(attempt, .refused("reauthentication_required"), now: now))
            }
        case .unavailable(let isAmbiguous, let retryAfter):
            let why = Unavailability("No answer", retryAfter: retryAfter, ambiguous: isAmbiguous)
            if let retryAfter, machine.signIn.isSent(attempt) || machine.renewal.sent(attempt) != nil {
                noteDemand(retryAfter, of: call)
            }
            switch call.kind {
            case .renewal: try perform(machine.renewalFailed(attempt, .unavailable(why), now: now))
            case .poll: try perform(machine.pollFailed(attempt, .unavailable(why), now: now))
            case .exchange, .authorization:
                try perform(machine.exchangeFailed(attempt, .unavailable(why), now: now))
            }
            if call.isRenewal { expectReplay(of: call, isAmbiguous: isAmbiguous) }
        case .unexplained:
            var why = Unavailability("It answered 400")
            switch call.kind {
            case .renewal:
                why.isUnexplainedRefusal = call.given == nil
                try refuseWithoutReason(attempt, call, why)
                expectReplay(of: call, isAmbiguous: false)
            case .poll: try perform(machine.pollFailed(attempt, .unavailable(why), now: now))
            case .exchange, .authorization: try perform(machine.exchangeFailed(attempt, .unavailable(why), now: now))
            }
        case .answerRefused:
            try perform(machine.renewalFailed(attempt, .answerRefused("It is used up"), now: now))
        case .refused:
            try perform(machine.exchangeFailed(attempt, .refused("It is used up"), now: now))
        }
    }

    /// A user has been granted a login, or the next tokens of one.
    private mutating func noteLogin(_ tokens: SimulatedProvider.Tokens) {
        logins[tokens.user] = provider.family(of: tokens.refresh)
    }

    /// The provider has said itself that this user's login is over, or is to be renewed by a new credential.
    private mutating func noteEnd(of user: String) {
        if let family = logins[user] { ended.insert(family) }
    }

    /// The tokens do not say whose they are.
    private mutating func grantUnnamed(
        _ tokens: SimulatedProvider.Tokens,
        _ call: Call,
        _ attempt: Attempt
    ) throws(Broken) {
        coverage.note(.partialGrants)
        unnamed[attempt] = (call, tokens)
        unnamedTokens.insert(tokens.refresh)
        let ref = put(Secret(owner: "unnamed", granted: tokens))
        try perform(machine.partiallyGranted(attempt, ref, now: now))
    }

    /// The provider says whose the tokens are, or does not. The provider itself gives back what it refuses.
    mutating func answerUserinfo(_ attempt: Attempt) throws(Broken) {
        guard let (call, tokens) = unnamed.removeValue(forKey: attempt) else { return }
        let isOvertaken = !machine.signIn.isSent(attempt)
        switch isOvertaken ? 0 : isHealed ? 9 : chance(10) {
        case 0..<4:
            let why = Unavailability("userinfo answered 503")
            if case .poll = call.kind {
                try perform(machine.pollFailed(attempt, .unavailable(why), now: now))
            } else {
                try perform(machine.exchangeFailed(attempt, .unavailable(why), now: now))
            }
        case 4:
            unnamedTokens.remove(tokens.refresh)
            if case .poll = call.kind {
                try perform(machine.pollFailed(attempt, .refused("userinfo names nobody"), now: now))
            } else {
                try perform(machine.exchangeFailed(attempt, .refused("userinfo names nobody"), now: now))
            }
        default:
            unnamedTokens.remove(tokens.refresh)
            obtained[tokens.access] = (time, restarts)
            noteLogin(tokens)
            let granted = Granted(
                identity: .user(tokens.user),
                scheme: scheme,
                life: Life(from: moment(tokens.at), lasting: .milliseconds(tokens.life)),
                secrets: put(Secret(owner: tokens.user, refresh: tokens.refresh, access: tokens.access))
            )
            if case .poll = call.kind { coverage.note(.approvals) }
            try perform(machine.exchangeSucceeded(attempt, granted, now: now))
        }
    }

    /// A new credential is wanted for that only after three attempts over ten minutes, with a dead token.
    private mutating func refuseWithoutReason(
        _ attempt: Attempt,
        _ call: Call,
        _ why: Unavailability
    ) throws(Broken) {
        let isReplay = machine.renewal.sent(attempt)?.tried.isReplay ?? false
        if !isReplay, call.given == nil, let token = call.refresh { unexplained[token, default: []].append(time) }
        let wasPending = machine.isReauthenticationPending
        try perform(machine.renewalFailed(attempt, .unavailable(why), now: now))
        guard machine.isReauthenticationPending, !wasPending else { return }
        coverage.note(.presumedDemands)
        let times = call.refresh.flatMap { unexplained[$0] } ?? []
        guard let first = times.first, times.count >= 3 else {
            throw Broken(description: "reauthentication is presumed after \(times.count) refusals")
        }
        // A restart knows the time only by a wall clock that somebody may have set.
        guard time - first >= 600_000 || lastStep >= first else {
            throw Broken(description: "reauthentication is presumed after \(time - first) ms")
        }
        if machine.state(now) == .established {
            throw Broken(description: "reauthentication is presumed while the token lives")
        }
    }

    /// The refresh token is the session's from now on, and its old access token stays.
    private mutating func deliverSuccessor(
        _ tokens: SimulatedProvider.Tokens,
        _ call: Call,
        _ attempt: Attempt
    ) throws(Broken) {
        coverage.note(.successorsAlone)
        if machine.renewal.sent(attempt) != nil, machine.ledger.change == nil, let spent = call.refresh {
            succeeded.insert(spent)
            window = nil
        }
        let secret = Secret(owner: tokens.user, refresh: tokens.refresh, access: call.access)
        let granted = Granted(identity: .user(tokens.user), scheme: scheme, life: nil, secrets: put(secret))
        try perform(machine.renewalFellShort(attempt, granted, Unavailability("No access token"), now: now))
    }

    mutating func endRevocation(_ revocation: RevocationID) throws(Broken) {
        guard telling == revocation else { return }
        telling = nil
        coverage.note(.revocationsTold)
        let failure: Unavailability? =
            switch isHealed ? 0 : chance(4) {
            case 0: nil
            case 1: Unavailability("Busy", retryAfter: .seconds(90))
            default: Unavailability("No answer")
            }
        try perform(machine.revocationEnded(revocation, failure: failure, now: now))
        // The same outcome twice is news once.
        try perform(machine.revocationEnded(revocation, failure: nil, now: now))
    }

    // MARK: The disk

    mutating func endWrite(_ ticket: WriteTicket) throws(Broken) {
        guard let ended = write, ended.ticket == ticket else { return }
        write = nil
        if diskIsFull {
            coverage.note(.writesFailed)
            try perform(machine.writeEnded(ticket, failure: StoreFailure("No space left on device"), now: now))
        } else {
            try put(ended)
            try perform(machine.writeEnded(ticket, failure: nil, now: now))
        }
        // The same outcome twice is news once.
        try perform(machine.writeEnded(ticket, failure: nil, now: now))
    }

    private mutating func put(_ write: Write) throws(Broken) {
        if let present = disk?.record, !write.record.supersedes(present) {
            throw Broken(description: "a write goes back from \(present.generation) to \(write.record.generation)")
        }
        disk = Disk(
            record: write.record,
            secret: write.secret,
            codes: write.codes,
            partialGrants: write.partialGrants
        )
    }

    // MARK: Clocks, users, the end

    private mutating func stepClock() throws(Broken) {
        coverage.note(.clockSteps)
        if !calls.isEmpty { coverage.note(.clockStepsInFlight) }
        lastStep = time
        wallOffset += Int64(chance(60_000_000)) - 30_000_000
        try perform(machine.clockJumped(now: now))
    }

    private mutating func changeNetwork() throws(Broken) {
        if case .resting(.backoff) = machine.renewal.phase { coverage.note(.hurriedRetries) }
        try perform(machine.networkChanged(now: now))
    }

    private mutating func suspend() throws(Broken) {
        coverage.note(.suspends)
        let length = Int64(chance(20_000_000))
        interruptions.append(time...(time + length))
        // Nothing is sent in suspend, but the first request with the token counts on.
        window?.replayBefore = nil
        time += length
        try perform(machine.clockJumped(now: now))
    }

    private mutating func changeUsers() {
        let user = Self.users[chance(2)]
        switch chance(6) {
        case 0: provider.deleted.insert(user)
        case 1, 2: provider.deleted.remove(user)
        case 3: provider.demandsReauthentication.insert(user)
        default: provider.demandsReauthentication.remove(user)
        }
    }

    /// The process dies: before, or just after, the write at the store reached the disk. Calls that left may still arrive.
    mutating func crash() throws(Broken) {
        noteCrash()
        let promised = machine.ledger.isSettled ? machine.standing : nil
        let awaited = machine.ledger.isSettled ? machine.signIn.device?.stored : nil
        if (machine.signIn.device != nil) { coverage.note(machine.signIn.isPolling ? .crashPolling : .crashAwaiting) }
        let wasDurable = machine.ledger.storage.durable
        if machine.ledger.isSigningOut || machine.ledger.isEnding, let token = disk?.secret?.refresh {
            givenUp.insert(token)
        }
        if let write, !diskIsFull, chance(2) == 0 { try put(write) }
        for attempt in calls.keys.sorted(by: { $0.number < $1.number }) where chance(2) == 0 {
            if let call = calls[attempt] { _ = answer(to: call) }
        }
        if !wasDurable { hasLostMemory = true }
        // What was granted and not written yet is lost, and so is what was about to be given back: it is only remembered.
        unnamedTokens.formIntersection(disk?.partialGrants.compactMap { $0.granted?.refresh } ?? [])
        unnamed = [:]
        agenda = []
        (shelf, calls, write, waiting, wanted, registered) = ([:], [:], nil, [], [:], [])
        (window, quietUntil, telling, signOuts) = (nil, nil, nil, [])
        rounds = [:]
        succeeded = []
        (renewBarredUntil, callers) = (.min, [:])
        (enrolling, enrolRequest) = (nil, nil)
        polled = [:]
        (withdrawn, withdrawnAttempts) = ([], [])
        // What the disk has not taken is not known any more.
        if promised == nil { (demanded, withdrawnCodes) = ([:], []) }
        keepDemandsOnDisk()
        restarts += 1
        let downtime = Int64([0, 300, 3_000, 30_000, 4_000_000][chance(5)])
        interruptions.append(time...(time + downtime))
        time += downtime
        if chance(3) == 0 { bootedAt = time - Int64(chance(60_000)) }
        machine = Self.machine(seed: random.next(), mode, provesForLong: provesForLong)
        try start()
        if wasDurable, let promised, !promised.isRestored(as: machine.standing) {
            throw Broken(description: "a crash lost \(promised): \(machine.standing)")
        }
        if wasDurable, let awaited, machine.signIn.device?.stored.externalUserId != awaited.externalUserId {
            throw Broken(description: "a crash lost a sign-in that somebody may have approved")
        }
    }

    private mutating func noteCrash() {
        switch machine.renewal.phase {
        case .resting: coverage.note(.crashIdle)
        case .asking: coverage.note(.crashAsking)
        case .noting: coverage.note(.crashNoting)
        case .sending: coverage.note(.crashSending)
        case .storing: coverage.note(.crashStoring)
        }
        if machine.ledger.isSigningIn { coverage.note(.crashSigningIn) }
        if machine.ledger.isSigningOut { coverage.note(.crashSigningOut) }
        if !machine.ledger.storage.durable { coverage.note(.crashUndurable) }
    }

    /// The process begins, with what the disk has.
    mutating func start() throws(Broken) {
        guard let disk else {
            return try perform(machine.restored(.absent, secrets: put(Secret(owner: "nobody")), now: now))
        }
        let secrets = put(disk.secret ?? Secret(owner: "nobody"))
        restoredGeneration = disk.record.generation
        if restarts == 0, !keepsNothing, chance(10) == 0 {
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
            // Without a key a tombstone can be written; in a directory that cannot be read, nothing.
            diskIsFull = !isLocked
            defer { diskIsFull = false }
            try perform(machine.restored(.unreadable(unreadable), secrets: secrets, now: now))
            keepsNothing = true
            for _ in 0..<6 {
                switch chance(3) {
                case 0: try signOut()
                case 1: try signIn()
                default: try identify()
                }
                try runWorld(until: time + Int64(chance(2_000)))
            }
            // The key is back at the next start.
            agenda = []
            machine = Self.machine(seed: random.next(), mode, provesForLong: provesForLong)
            (shelf, calls, write, waiting, telling, signOuts) = ([:], [:], nil, [], nil, [])
            unnamed = [:]
            try start()
            keepsNothing = false
            return
        }
        let damaged = chance(8) == 0 ? "session.sealed.tmp-1" : nil
        let restoration = Restoration.restored(disk.record, SessionSecrets(), damaged: damaged)
        expectReplay(of: disk.record, disk.secret)
        let codes = disk.codes.map { put($0) }
        let partialGrants = disk.partialGrants.map { put($0) }
        try perform(
            machine.restored(restoration, secrets: secrets, codes: codes, partialGrants: partialGrants, now: now)
        )
        try checkReplayAtStart(disk.record)
    }

    /// A session from an earlier life is on disk: alive or dead, perhaps with an intent that was or was not carried out.
    mutating func storeSession() {
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
            renewAt: token.issuedAt + token.life * 0.6
        )
        var writtenAt = token.issuedAt
        switch chance(5) {
        case 0:
            let noted = min(age, Int64(chance(20_000)))
            stored.renewalUnderWay = true
            stored.renewalUsesAnswer = scheme != .signInToken
            // A release before this one left a postponement beside the intent.
            if mode == .handler, chance(2) == 0 {
                stored.postponedUntil = WallTime(milliseconds: time + wallOffset + Int64(chance(600_000)))
            }
            writtenAt = WallTime(milliseconds: time - noted + wallOffset)
            interruptions.append((time - noted)...time)
            if chance(2) == 0 { _ = provider.refresh(tokens.refresh, life: life, at: time - noted) }
        case 1: stored.reauthenticationPending = true
        case 2 where mode == .handler:
            stored.postponedUntil = WallTime(milliseconds: time + wallOffset + Int64(chance(600_000)))
        default: break
        }
        let record = SessionRecord(
            generation: 1,
            edition: 3,
            writtenAt: writtenAt,
            provider: "junction",
            content: .session(stored)
        )
        obtained[tokens.access] = (time - age, -1)
        disk = Disk(record: record, secret: Secret(owner: user, refresh: tokens.refresh, access: tokens.access))
    }
}

extension Standing {
    /// Whether a restart that brought `other` brought this standing back.
    fileprivate func isRestored(as other: Standing) -> Bool {
        switch (self, other) {
        case (.signedIn(let before), .signedIn(let after)):
            before.stored.identity == after.stored.identity && before.stored.token == after.stored.token
                && before.stored.renewAt == after.stored.renewAt
                && before.stored.reauthenticationPending == after.stored.reauthenticationPending
                && before.stored.externalUserId == after.stored.externalUserId
        default:
            self == other
        }
    }
}

extension Ledger {
    /// Whether the provider's verdict is being written.
    var isEnding: Bool {
        if case .ending? = change?.kind { true } else { false }
    }
}
