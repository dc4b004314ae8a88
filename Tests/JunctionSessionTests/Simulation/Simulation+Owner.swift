@testable import JunctionSession

/// The owner's part: every effect is carried out, and judged while it is.
extension Simulation {
    mutating func perform(_ effects: [Effect]) throws(Broken) {
        for effect in effects { trace?.append("\(time):   → \(effect)") }
        for effect in effects {
            switch effect {
            case .exchange(let attempt, let request, let given, let expected):
                try exchange(attempt, request, given, expected)
            case .authorize(let attempt, let request):
                guard waiting.contains(request) else { throw Broken(description: "codes are asked for, for nobody") }
                try sendExchange(attempt, Call(kind: .authorization, user: "nobody", sentAt: time, start: now))
            case .poll(let attempt, let codes):
                try poll(attempt, codes)
            case .renew(let attempt, let identity, let secrets, let given):
                try renew(attempt, identity, secrets, given)
            case .write(let ticket, let record, let secrets, let codes, let partialGrants):
                try begin(ticket, record, secrets, codes, partialGrants)
            case .revoke(let revocation, let identity, let secrets):
                try revoke(revocation, identity, secrets)
            case .interrupt(let revocation):
                guard telling == revocation else { throw Broken(description: "a request was given up that is over") }
                plan(.revocationEnds(revocation), after: 0)
            case .ask(let request, _):
                plan(.appAnswers(request), after: Int64(chance(isHealed ? 100 : 60_000)))
            case .askHandler(let handler, let question):
                try ask(handler, question)
            case .reply(let reply):
                try hear(reply)
            case .goOn(let attempt, let isWanted):
                try goOn(attempt, isWanted)
            case .giveBack(let ref):
                guard let tokens = try find(ref).granted else { throw Broken(description: "nothing is given back") }
                coverage.note(.partialGrantsGivenBack)
                unnamedTokens.remove(tokens.refresh)
            case .report(let happening):
                note(happening)
            }
        }
        let used = machine.secretsInUse
        if let lost = used.first(where: { shelf[$0] == nil }) {
            throw Broken(description: "the machine names a secret that is gone: \(lost.number)")
        }
        shelf = shelf.filter { used.contains($0.key) }
        if used.count > RenewalPolicy.mostRevocations + 11 { throw Broken(description: "secrets pile up") }
    }

    private mutating func exchange(
        _ attempt: Attempt,
        _ request: RequestID,
        _ given: SecretRef?,
        _ expected: Identity?
    ) throws(Broken) {
        guard let user = wanted[request], waiting.contains(request) else {
            throw Broken(description: "an exchange without a credential")
        }
        if keepsNothing { throw Broken(description: "a one-time credential is spent where nothing can be kept") }
        let secret = try given.map { (ref) throws(Broken) in try find(ref) }
        let call = Call(kind: .exchange, user: user, expected: expected?.name, given: secret, sentAt: time, start: now)
        // Now and then the credential is one that an earlier try has spent.
        let kept = machine.signIn.grantsInUse.first { grant in
            grant != machine.signIn.device?.grant && shelf[grant]?.granted?.user == user
        }
        if let kept, given == nil, chance(2) == 0, let tokens = shelf[kept]?.granted {
            machine.foundPartialGrant(attempt, kept, now: now)
            return resume(attempt, call, tokens)
        }
        try sendExchange(attempt, call)
    }

    /// Invariant 1: at most one exchange is in flight, whatever it is.
    private mutating func sendExchange(_ attempt: Attempt, _ call: Call) throws(Broken) {
        if calls.contains(where: { !$0.value.isRenewal && machine.signIn.isSent($0.key) }) {
            throw Broken(description: "two exchanges in flight")
        }
        send(attempt, call)
    }

    private mutating func poll(_ attempt: Attempt, _ ref: SecretRef) throws(Broken) {
        guard let code = try find(ref).code else { throw Broken(description: "a poll without a code") }
        if telling != nil { throw Broken(description: "a poll while the provider is told of a sign-out") }
        if let tokens = machine.signIn.exchange?.grant.flatMap({ shelf[$0]?.granted }) {
            return resume(attempt, Call(kind: .poll(code), user: "nobody", sentAt: time, start: now), tokens)
        }
        try checkDemand(.poll(code))
        if let before = polled[code], time - before < 5_000 { throw Broken(description: "polls come too fast") }
        polled[code] = time
        coverage.note(.polls)
        try sendExchange(attempt, Call(kind: .poll(code), user: "nobody", sentAt: time, start: now))
    }

    // MARK: Sign-ins whose user has yet to be told

    private mutating func resume(_ attempt: Attempt, _ call: Call, _ tokens: SimulatedProvider.Tokens) {
        coverage.note(.partialGrantsResumed)
        unnamed[attempt] = (call, tokens)
        plan(.userinfoAnswers(attempt), after: Int64(chance(3_000)))
    }

    /// The provider may be asked whose the tokens are: they are on the disk, as far as that takes anything.
    private mutating func goOn(_ attempt: Attempt, _ isWanted: Bool) throws(Broken) {
        guard let tokens = unnamed[attempt]?.tokens else {
            throw Broken(description: "a sign-in goes on that has ended")
        }
        let isKept = disk?.partialGrants.contains { $0.granted == tokens } ?? false
        if isWanted, !isKept, machine.ledger.storage.durable, machine.standing.content != nil {
            throw Broken(description: "the user is asked for before the tokens are on the disk")
        }
        plan(.userinfoAnswers(attempt), after: isWanted ? Int64(chance(3_000)) : 0)
    }

    private mutating func renew(
        _ attempt: Attempt,
        _ identity: Identity,
        _ secrets: SecretRef,
        _ given: SecretRef?
    ) throws(Broken) {
        let secret = try find(secrets)
        // Invariant 8, on its way to the provider.
        if secret.owner != identity.name { throw Broken(description: "a renewal of \(identity.name) with \(secret)") }
        if calls.contains(where: { $0.value.isRenewal && $0.key != attempt && machine.renewal.sent($0.key) != nil }) {
            throw Broken(description: "two renewals in flight")
        }
        let own = try given.map { (ref) throws(Broken) in try find(ref) }
        if own != nil { coverage.note(.handlerRenewals) }
        if own == nil, let refresh = secret.refresh, refresh == window?.token {
            // A replay does not wait for it.
            demanded[.renewal] = nil
        }
        try checkDemand(.renewal)
        if own == nil, let refresh = secret.refresh {
            if succeeded.contains(refresh) {
                throw Broken(description: "a spent refresh token is sent although its successor is held")
            }
            noteSend(of: refresh)
        } else {
            window = nil
        }
        sends.append(time)
        let call = Call(
            kind: .renewal,
            user: identity.name,
            refresh: secret.refresh,
            access: secret.access,
            given: own,
            sentAt: time,
            start: now
        )
        send(attempt, call)
    }

    private mutating func noteSend(of token: Int) {
        sendsOfToken[token, default: []].append(time)
        guard window?.token == token else {
            window = nil
            return
        }
        window?.replays += 1
        replayTimes.append(time)
        window?.replayBefore = nil
        coverage.note(window?.replays == 1 ? .replays : .secondReplays)
    }

    private mutating func begin(
        _ ticket: WriteTicket,
        _ record: SessionRecord,
        _ ref: SecretRef?,
        _ codes: SecretRef?,
        _ partialGrants: [SecretRef]
    ) throws(Broken) {
        if (record.approval == nil) != (codes == nil) {
            throw Broken(description: "a sign-in that awaits approval is written without its codes")
        }
        if write != nil { throw Broken(description: "two writes at the store at once") }
        let secret = try ref.map { (ref) throws(Broken) in try find(ref) }
        // Invariant 8, on its way to the disk.
        if case .session(let stored) = record.content {
            guard let secret, secret.owner == stored.identity.name else {
                throw Broken(
                    description: "a record of \(stored.identity.name) is sealed with \(String(describing: secret))"
                )
            }
            if let generation = stored.token?.generation, generation > record.generation {
                throw Broken(description: "a record of generation \(record.generation) holds a token of \(generation)")
            }
            if secret.access.flatMap({ provider.access[$0] })?.user != stored.identity.name {
                throw Broken(description: "the token in the record belongs to somebody else")
            }
        }
        let sealed = try codes.map { (ref) throws(Broken) in try find(ref) }
        var partial: [Secret] = []
        for ref in partialGrants { partial.append(try find(ref)) }
        if partial.count != record.partialGrants.count {
            throw Broken(description: "partial grants are written without their secrets")
        }
        write = Write(ticket: ticket, record: record, secret: secret, codes: sealed, partialGrants: partial)
        // A slow disk takes seconds, and sometimes minutes.
        plan(.writeEnds(ticket), after: Int64(chance(diskIsSlow ? (chance(4) == 0 ? 300_000 : 30_000) : 20)))
    }

    /// The provider is told of a sign-out: of one at a time, with its own user's secrets, and never of who is signed in.
    private mutating func revoke(
        _ revocation: RevocationID,
        _ identity: Identity,
        _ secrets: SecretRef
    ) throws(Broken) {
        if telling != nil { throw Broken(description: "the provider is told of two sign-outs at once") }
        let secret = try find(secrets)
        if secret.owner != identity.name { throw Broken(description: "a sign-out is told with other secrets") }
        if let refresh = secret.refresh, let family = provider.family(of: refresh) { ended.insert(family) }
        if machine.identity?.name == identity.name { throw Broken(description: "the signed-in user is signed out") }
        if machine.signIn.isPolling { throw Broken(description: "a sign-out is told while an approval is asked for") }
        if machine.ledger.isSigningOut { throw Broken(description: "a sign-out is told before it is over here") }
        telling = revocation
        plan(.revocationEnds(revocation), after: Int64(chance(8_000)))
    }

    private mutating func ask(_ handler: HandlerID, _ question: RenewalQuestion) throws(Broken) {
        hasAsked = true
        guard registered.contains(handler) else { throw Broken(description: "a handler was asked that is gone") }
        if question.reason != .missing, question.reason != .requested, let quietUntil, time < quietUntil {
            throw Broken(description: "a handler was asked within ten minutes of unable")
        }
        var round = rounds[question.attempt] ?? (began: time, users: [])
        guard round.users.insert(handler.uid).inserted else {
            throw Broken(description: "a local user is asked twice in one round")
        }
        if question.deadline > now.wall + .milliseconds(round.began + 120_000 - time) {
            throw Broken(description: "a round takes more than two minutes")
        }
        rounds[question.attempt] = round
        // Some never answer: only the deadline ends that.
        if !isHealed, chance(8) == 0 { return coverage.note(.silentHandlers) }
        plan(.handlerAnswers(handler, question), after: Int64(chance(isHealed ? 100 : 75_000)))
    }

    // MARK: Replies

    private mutating func hear(_ reply: Reply) throws(Broken) {
        let request = reply.request
        switch reply.outcome {
        case .failure(let refusal):
            try hear(request, refusal)
        case .success(.done):
            try hear(request, nil)
            try checkPromise()
            if wanted[request] != nil, machine.standing.session == nil, machine.signIn.device == nil {
                throw Broken(description: "a sign-in succeeded, and nobody is signed in or waited for")
            }
        case .success(.identified(let outcome)):
            if outcome == .switched { coverage.note(.switchesWritten) }
            try hear(request, nil)
            try checkPromise()
        case .success(.token(let token)):
            try hear(request, nil)
            try checkServed(token)
        case .success(.authorized), .success(.rejectionStands):
            try hear(request, nil)
        case .success(.retry(let retry)):
            try hear(request, nil)
            guard enrolling != nil else { throw Broken(description: "a credential is tried that is used up") }
            coverage.note(.enrolments)
            enrolRetry = retry
            plan(.enrolmentIsDue, after: 0)
        }
    }

    private mutating func hear(_ request: RequestID, _ refusal: Refusal?) throws(Broken) {
        guard waiting.remove(request) != nil else { throw Broken(description: "answered twice: \(request)") }
        if withdrawn.contains(request), refusal == nil {
            throw Broken(description: "a sign-in succeeds although the right to it was withdrawn")
        }
        if request == enrolRequest {
            enrolRequest = nil
            plan(.enrolmentAnswered(refusal), after: 0)
        }
        if let retryAfter = refusal?.retryAfter, retryAfter < .zero {
            throw Broken(description: "a caller is told to come back in the past")
        }
    }

    /// Invariant 2: what is said to be durable is on the disk.
    private func checkPromise() throws(Broken) {
        guard machine.ledger.storage.durable, machine.ledger.isIdle, machine.standing.content != nil else { return }
        switch (disk?.record.content, machine.standing) {
        case (nil, .signedOut), (.signedOut?, .signedOut): return
        case (.session(let stored)?, .signedIn(let session)):
            guard stored.identity == session.stored.identity, stored.token == session.stored.token else { break }
            return
        case (let stored?, let standing): if stored == standing.content { return }
        case (nil, _): break
        }
        throw Broken(description: "a success was reported that is not on disk: \(machine.standing)")
    }

    private func checkServed(_ token: TokenFacts) throws(Broken) {
        guard let served = machine.servedSecrets, let secret = shelf[served], let access = secret.access,
            let truth = provider.access[access]
        else { throw Broken(description: "a token was served that nobody has") }
        // Invariant 8, on its way to a caller.
        if truth.user != machine.identity?.name { throw Broken(description: "somebody else's token was served") }
        if isLifeKnown(of: access), time >= truth.endsAt { throw Broken(description: "a dead token was served") }
        if token.generation > machine.ledger.generation { throw Broken(description: "a token from the future") }
    }

    private mutating func note(_ happening: Happening) {
        switch happening {
        case .exchangeEnded(.succeeded):
            coverage.note(.signInsWritten)
            (quietUntil, window, renewBarredUntil) = (nil, nil, .min)
            demanded[.renewal] = nil
        case .renewalEnded(.succeeded, _):
            coverage.note(.rotations)
            (quietUntil, window, renewBarredUntil) = (nil, nil, .min)
        case .renewalEnded(.terminated, _): coverage.note(.terminations)
        case .signedOut: (renewBarredUntil, demanded[.renewal]) = (.min, nil)
        case .revocationGivenUp: hasGivenUp = true
        case .exchangeEnded, .renewalEnded, .writeFailed: break
        }
    }

    func find(_ ref: SecretRef) throws(Broken) -> Secret {
        guard let secret = shelf[ref] else { throw Broken(description: "a secret is named that is gone") }
        return secret
    }
}
