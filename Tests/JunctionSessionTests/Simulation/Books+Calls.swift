import JunctionSession

/// What leaves for the provider, and what the owner hears of it.
extension Books {
    /// A renewal leaves.
    mutating func renews(_ call: inout Call, _ world: Simulation) {
        let time = world.time
        let token = call.given == nil ? call.refresh : nil
        call.isRefreshRetry = token != nil && token == window?.token
        let lastReplay = max(window.map { $0.sentAt + 24_000 } ?? .min, startedAt)
        // Whether a further one is a replay, or an attempt after a pause, cannot be seen from outside.
        call.isInsideGrace =
            call.isRefreshRetry && time <= lastReplay && window?.replays == 0 && window?.isCapped == false
        // A replay does not wait for a pause, and does not end it. While a grant waits for the disk, nobody follows the replays of
        // the session before it.
        if !call.isRefreshRetry, granted == nil { keepPause(.renewal, world) }
        sends.append(time)
        guard let token else { return window = nil }
        if succeeded.contains(token) { world.fail("a spent refresh token is sent although its successor is held") }
        sendsOfToken[token, default: []].append(time)
        guard call.isRefreshRetry else { return window = nil }
        window?.replays += 1
        window?.replayBefore = nil
        replayTimes.append(time)
        world.coverage.note(window?.replays == 1 ? .replays : .secondReplays)
    }

    /// A poll leaves.
    mutating func polls(_ code: Int, _ world: Simulation) {
        world.coverage.note(.polls)
        keepPause(.poll(code), world)
        let interval = intervals[code] ?? 5_000
        if let before = polled[code], world.time - before < interval { world.fail("polls come too fast") }
        polled[code] = world.time
        pollDueBy = .max
    }

    /// Codes are shown, or a poll has not ended the wait for the approval.
    private mutating func awaitsPoll(_ code: Int, _ world: Simulation) {
        let pause = max((intervals[code] ?? 5_000) * 6 / 5, 60_000)
        pollDueBy = max(world.time + pause, demanded[.poll(code)] ?? 0) + 1_000
    }

    /// No request of a kind leaves before the pause is over that the provider has demanded.
    private mutating func keepPause(_ kind: Call.Kind, _ world: Simulation) {
        guard let end = demanded.removeValue(forKey: kind) else { return }
        world.coverage.note(.pausesKept)
        if world.time < end {
            world.fail("a request (\(kind)) leaves \(end - world.time) ms before the provider wants it")
        }
    }

    /// The owner is about to hear an answer.
    mutating func hears(_ answer: Answer, of call: Call, _ world: Simulation) {
        hasRefused = false
        let isCurrent = !call.isOvertaken
        defer { if case .poll(let code) = call.kind, isCurrent { awaitsPoll(code, world) } }
        switch answer {
        case .codes(let given):
            world.coverage.note(.codesGiven)
            codes.insert(given.number)
            if areNextCodesWithdrawn { withdrawnCodes.insert(given.number) }
            areNextCodesWithdrawn = false
            awaitsPoll(given.number, world)
        case .undecided(let failure):
            if failure == .slowDown, isCurrent, case .poll(let code) = call.kind {
                world.coverage.note(.slowDowns)
                intervals[code] = (intervals[code] ?? 5_000) + 5_000
            }
            if failure != .pending, failure != .slowDown { world.coverage.note(.approvalsRefused) }
        case .granted(let tokens):
            hearsGrant(tokens, of: call, world)
        case .unnamed(let tokens):
            world.coverage.note(.partialGrants)
            unnamed.insert(tokens.refresh)
        case .successor(let tokens):
            world.coverage.note(.successorsAlone)
            guard isCurrent, granted == nil, let spent = call.refresh else { return }
            succeeded.insert(spent)
            window = nil
            held?.refresh = tokens.refresh
            (isDemanded, isPresumed) = (false, false)
            demanded[.renewal] = nil
        case .deleted, .reauthentication:
            if case .reauthentication = answer { world.coverage.note(.reauthentications) }
            guard call.kind == .renewal else { return }
            if let family = logins[call.user] { ended.insert(family) }
            guard isCurrent else { return }
            if case .reauthentication = answer {
                (isDemanded, isPresumed) = (true, false)
            } else if granted == nil {
                isEnding = true
            } else {
                mayEnd = true
            }
        case .unavailable(let isAmbiguous, let pause):
            if let pause, isCurrent, call.kind == .renewal || call.kind.isPoll {
                // More than an hour is not believed.
                demanded[call.kind] = world.time + min(pause, .seconds(3_600)).wholeMilliseconds
                demandedAt = world.time
            }
            guard isAmbiguous, call.kind == .renewal else { return }
            world.coverage.note(.ambiguous)
            if call.given == nil, let token = call.refresh { noticed[token, default: []].append(world.time) }
        case .unexplained(let isOfToken):
            if isOfToken, !call.isInsideGrace, let token = call.refresh {
                unexplained[token, default: []].append(world.time)
            }
        case .answerRefused, .refused:
            // The next handler is asked, when the question of the other round has ended.
            if call.given != nil, isCurrent, open != nil { world.coverage.note(.refusedBesideQuestion) }
        case .otherUser, .status, .revoked: break
        }
    }

    private mutating func hearsGrant(_ tokens: SimulatedProvider.Tokens, of call: Call, _ world: Simulation) {
        if call.isOvertaken { world.coverage.note(.overtakenGrants) }
        unnamed.remove(tokens.refresh)
        obtained[tokens.access] = (world.time, world.restarts)
        var isWithdrawn = call.request.map { withdrawn.contains($0) } ?? false
        if case .poll(let code) = call.kind { isWithdrawn = withdrawnCodes.contains(code) }
        if isWithdrawn { unwanted.insert(tokens.family) }
        // A provider may know one session of a user and a device: one that nobody wants is not told to be over while its user
        // stays signed in.
        let staying = granted?.user ?? (world.isSigningOut || isEnding ? nil : held?.user)
        let isOvertaken = call.isOvertaken || call.kind == .renewal && granted != nil
        let isLeft = (isOvertaken || isWithdrawn) && staying == tokens.user
        if !isLeft { logins[tokens.user] = tokens.family }
        guard !call.isOvertaken else { return }
        if call.kind == .renewal {
            if isPresumed { world.coverage.note(.presumedHealed) }
            renewed = Login(tokens)
            renewed?.keepsName = true
        } else if !isWithdrawn, call.expected ?? tokens.user == tokens.user {
            if call.kind.isPoll { world.coverage.note(.approvals) }
            var login = Login(tokens)
            login.name = name(by: call, world)
            login.keepsName = login.name == .some(nil) && held?.user == tokens.user
            (granted, grantedTo) = (login, call.request)
            if open?.question.reason != .missing { open = nil }
        }
    }

    /// The app's name that whoever is about to be signed in was asked for with, if an app has asked.
    private func name(by call: Call, _ world: Simulation) -> String?? {
        // Who began an approval is known while it is on the disk.
        if case .poll(let code) = call.kind, world.disk?.secrets.codes?.deviceCode.number != code { return nil }
        let asked = call.request.flatMap { world.waiting[$0]?.kind.name }
        return .some(call.kind.isPoll ? world.disk?.record.approval?.externalUserId?.text : asked)
    }

    /// The owner has heard an answer.
    mutating func hasHeard(_ answer: Answer, of call: Call, _ world: Simulation) {
        // Another user than the wanted one has approved.
        if call.kind.isPoll, case .granted = answer, hasRefused { (granted, grantedTo) = (nil, nil) }
    }

    /// The session is over by the answer to an API call.
    mutating func isBanned(_ world: Simulation) {
        isEnding = true
        window = nil
        open = nil
        if let family = held?.family { ended.insert(family) }
        for (number, call) in world.calls where call.kind == .renewal { world.calls[number]?.isOvertaken = true }
    }
}
