import JunctionSession

/// The calls that leave for the provider, and the answers that the owner gets.
extension Model {
    /// Records a renewal that leaves.
    mutating func renews(_ call: inout Call, _ world: Simulation) {
        let time = world.time
        let token = call.given == nil ? call.refresh : nil
        call.isRefreshRetry = token != nil && token == window?.token
        let lastRefreshRetry = max(window.map { $0.sentAt + 24_000 } ?? .min, startedAt)
        // A further request may be a refresh retry or an attempt after a pause. The model cannot see which.
        call.isInsideGrace =
            call.isRefreshRetry && time <= lastRefreshRetry && window?.refreshRetries == 0 && window?.isCapped == false
        // A refresh retry neither waits for a pause nor ends it. While a grant waits for the disk, the model does not
        // follow the refresh retries of the session before it.
        if !call.isRefreshRetry, granted == nil, !isRenewalRequested { keepPause(.renewal, world) }
        sends.append(time)
        guard let token else { return window = nil }
        if succeeded.contains(token) { world.fail("a spent refresh token is sent although its successor is held") }
        sendsOfToken[token, default: []].append(time)
        guard call.isRefreshRetry else { return window = nil }
        window?.refreshRetries += 1
        window?.retryBefore = nil
        refreshRetryTimes.append(time)
        world.coverage.note(window?.refreshRetries == 1 ? .refreshRetries : .lateRefreshRetries)
    }

    /// Records a poll that leaves.
    mutating func polls(_ code: Int, _ world: Simulation) {
        world.coverage.note(.polls)
        keepPause(.poll(code), world)
        let interval = intervals[code] ?? 5_000
        if let before = polled[code], world.time - before < interval { world.fail("polls come too fast") }
        polled[code] = world.time
        pollDueBy = .max
    }

    /// Sets the latest time of the next poll, after codes were shown or a poll brought no approval. Only after a failure
    /// may the pause be longer than the interval and its margin.
    private mutating func awaitsPoll(_ code: Int, afterFailure: Bool = false, _ world: Simulation) {
        let pause = max((intervals[code] ?? 5_000) * 6 / 5, afterFailure ? 60_000 : 0)
        pollDueBy = max(world.time + pause, demanded[.poll(code)] ?? 0) + 1_000
    }

    /// Fails if a request leaves before the end of a pause that the provider has demanded for its kind.
    private mutating func keepPause(_ kind: Call.Kind, _ world: Simulation) {
        guard let end = demanded.removeValue(forKey: kind) else { return }
        world.coverage.note(.pausesKept)
        if world.time < end {
            world.fail("a request (\(kind)) leaves \(end - world.time) ms before the provider wants it")
        }
    }

    /// Records an answer that the owner is about to get.
    mutating func hears(_ answer: Answer, of call: Call, _ world: Simulation) {
        hasRefused = false
        let isCurrent = !call.isOvertaken
        var isFailure = true
        if case .undecided = answer { isFailure = false }
        defer { if case .poll(let code) = call.kind, isCurrent { awaitsPoll(code, afterFailure: isFailure, world) } }
        switch answer {
        case .codes(let given):
            world.coverage.note(.codesGiven)
            codes.insert(given.number)
            if areNextCodesWithdrawn { withdrawnCodes.insert(given.number) }
            areNextCodesWithdrawn = false
            awaitsPoll(given.number, world)
        case .undecided(let failure):
            if failure == .slowDown(), isCurrent, case .poll(let code) = call.kind {
                world.coverage.note(.slowDowns)
                intervals[code] = (intervals[code] ?? 5_000) + 5_000
            }
            if failure != .pending(), failure != .slowDown() { world.coverage.note(.approvalsRefused) }
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
                // No renewal is due any more.
                demanded[.renewal] = nil
            } else if granted == nil {
                isEnding = true
            } else {
                mayEnd = true
            }
        case .unavailable(let isAmbiguous, let pause):
            if let pause, isCurrent, call.kind == .renewal || call.kind.isPoll {
                // A Retry-After of more than an hour is clamped.
                let end = world.time + min(pause, .seconds(3_600)).wholeMilliseconds
                demanded[call.kind] = call.kind == .renewal ? max(end, demanded[.renewal] ?? end) : end
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
            // The next handler is asked when the other round's question has ended.
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
        // A provider may have one session for a user and a device. An unused login is not revoked while its user stays
        // signed in.
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
            // A session that is ending leaves its name to no later session.
            login.keepsName = login.name == .some(nil) && held?.user == tokens.user && !isEnding
            (granted, grantedTo) = (login, call.request)
            if open?.question.reason != .missing { open = nil }
        }
    }

    /// Returns the app's own name for the user who is about to be signed in, if an app has requested it.
    private func name(by call: Call, _ world: Simulation) -> String?? {
        // The caller of a device sign-in is known only while it is on the disk.
        if case .poll(let code) = call.kind, world.disk?.secrets.codes?.deviceCode.number != code { return nil }
        let asked = call.request.flatMap { world.waiting[$0]?.kind.name }
        return .some(call.kind.isPoll ? world.disk?.record.deviceSignIn?.externalUserId?.text : asked)
    }

    /// Records the state after the owner has got an answer.
    mutating func hasHeard(_ answer: Answer, of call: Call, _ world: Simulation) {
        // Another user than the wanted one has approved.
        if call.kind.isPoll, case .granted = answer, hasRefused { (granted, grantedTo) = (nil, nil) }
    }

    /// Records an answer to an API call that ends the session.
    mutating func isBanned(_ world: Simulation) {
        isEnding = true
        window = nil
        open = nil
        if let family = held?.family { ended.insert(family) }
        for (number, call) in world.calls where call.kind == .renewal { world.calls[number]?.isOvertaken = true }
    }
}
