import JunctionSecret
import JunctionSession

/// The requests of the owner to the provider. Each is checked when it leaves.
extension Simulation {
    /// Sends a call and waits for its answer.
    func send(_ call: Call) async -> Answer {
        let number = newNumber()
        log("call \(number): \(call)")
        return await withUnsafeContinuation { continuation in
            var call = call
            (call.sentAt, call.continuation) = (time, continuation)
            calls[number] = call
            depart(number, call)
        }
    }

    // MARK: Sign-ins

    func exchange(of credential: Credential, expecting expected: String?, _ store: PartialGrantStore) -> Call {
        var call = Call(kind: .exchange, expected: expected, isKept: credential.oneTimeSecret != nil)
        switch credential {
        case .signInToken(let secret), .userLogin(_, _, let secret?):
            (call.user, call.request) = (secret.user, secret.number)
        case .linkCode(let code):
            call.link = code.number
            call.user = provider.user(of: code.number) ?? "nobody"
            call.request = waiting.first { $0.value.link == code.number }?.key
        case .registration(let name, let token):
            call.user = String(name.prefix { $0 != ":" })
            call.request = Int(name.drop { $0 != ":" }.dropFirst())
            call.given = token.map(given)
        case .registrationSignature(let name, let signature, _):
            call.user = String(name.prefix { $0 != ":" })
            call.request = Int(name.drop { $0 != ":" }.dropFirst())
            call.given = given(signature)
        default: fail("an exchange of \(credential.scheme)")
        }
        if call.request.flatMap({ waiting[$0] }) == nil { fail("an exchange for nobody") }
        if keepsNothing { fail("a one-time credential is spent where nothing can be kept") }
        judgeSpent(call.link, store)
        judgeExchange()
        // A sign-in with a handler's secret began before.
        if call.given == nil { judgeTurn() }
        charge(call.request)
        return call
    }

    func authorization() -> Call {
        if !waiting.values.contains(where: { $0.isDevice }) { fail("codes are asked for, for nobody") }
        judgeExchange()
        judgeTurn()
        return Call(kind: .authorization)
    }

    func poll(with code: SharedSecret, _ store: PartialGrantStore) -> Call {
        let number = code.number
        if calls.values.contains(where: { $0.kind == .revocation }) {
            fail("a poll leaves while the provider is told of a sign-out")
        }
        judgeExchange()
        if store.found == nil { model.polls(number, self) }
        return Call(kind: .poll(number), isKept: true)
    }

    private func judgeExchange() {
        if calls.values.contains(where: { $0.isOfSignIn && !$0.isOvertaken }) { fail("two exchanges are in flight") }
    }

    /// Checks that a sign-in does not leave before a poll that is due.
    private func judgeTurn() {
        guard snapshot.facts.authorization != nil, time > model.pollDueBy,
            !calls.values.contains(where: { $0.kind == .revocation })
        else { return }
        fail("a sign-in takes the turn of a poll that was due \(time - model.pollDueBy) ms ago")
    }

    /// Checks that the next attempt with a link code uses the grant of the earlier one.
    private func judgeSpent(_ link: Int?, _ store: PartialGrantStore) {
        guard let link, store.found == nil, pendingWrite == nil, snapshot.facts.storage.durable,
            let disk,
            disk.secrets.partialGrants.contains(where: { $0.credential.isOf("l") && $0.credential.number == link })
        else { return }
        fail("a credential that is spent is sent, although what it has brought is kept")
    }

    /// Requests the user of tokens, which must be on the disk by then, unless the disk refuses writes.
    func askUserinfo(_ tokens: SimulatedProvider.Tokens, _ call: Call, isResumed: Bool) async -> Answer {
        if isResumed {
            coverage.note(.partialGrantsResumed)
        } else {
            let isOnDisk = disk?.secrets.partialGrants.contains { $0.content.number == tokens.refresh } ?? false
            if !isOnDisk, !keepsNothing, snapshot.facts.storage.durable {
                fail("the user is asked for before the tokens are on the disk")
            }
        }
        var next = call
        next.tokens = tokens
        if call.kind == .exchange { next.kind = .userinfo }
        if call.kind == .renewal { coverage.note(.partialGrantsOfRenewals) }
        return await send(next)
    }

    // MARK: The session

    func renewal(
        of user: String,
        with secrets: SessionSecrets,
        using answer: RenewalAnswer,
        _ store: PartialGrantStore
    ) -> Call {
        // Only an exchange begins a login of its own, whose grant may be revoked alone.
        var call = Call(kind: .renewal, user: user)
        call.refresh = secrets.refreshToken?.number
        // The owner leaves out an access token that has expired. The session still keeps it.
        call.access = secrets.accessToken?.number ?? model.held?.access
        switch answer {
        case .renew: break
        case .authToken(let secret), .signature(let secret, _):
            if case .authToken = answer { call.isKept = scheme == .signInToken }
            call.given = given(secret)
            coverage.note(.handlerRenewals)
        }
        let owner = call.refresh.flatMap { provider.tokens(of: $0)?.user }
        if owner != user { fail("a renewal of \(user) leaves with the tokens of \(owner ?? "nobody")") }
        if let access = secrets.accessToken, provider.access[access.number]?.user != user {
            fail("a renewal of \(user) shows somebody else's access token")
        }
        if calls.values.contains(where: { $0.kind == .renewal && !$0.isOvertaken }) {
            fail("two renewals are in flight")
        }
        model.renews(&call, self)
        return call
    }

    /// Checks a revocation: one at a time, with its own user's secrets, and never of the signed-in user.
    func revocation(of user: String, with secrets: SessionSecrets) -> Call {
        judgeRevocation()
        guard let tokens = secrets.refreshToken.flatMap({ provider.tokens(of: $0.number) }), tokens.user == user else {
            fail("a sign-out of \(user) is told with other secrets")
            return Call(kind: .revocation)
        }
        model.ended.insert(tokens.family)
        // A verdict may end the session in this very step.
        if model.held?.user == user, !model.isEnding {
            fail("the provider is told that \(user) has signed out, who is signed in")
        }
        return Call(kind: .revocation, user: user, refresh: tokens.refresh)
    }

    func revocation(of partialGrant: SharedSecret) -> Call {
        judgeRevocation()
        coverage.note(.partialGrantsGivenBack)
        return Call(kind: .revocation, refresh: partialGrant.number)
    }

    private func judgeRevocation() {
        if calls.values.contains(where: { $0.kind == .revocation }) {
            fail("the provider is told of two sign-outs at once")
        }
        if calls.values.contains(where: { $0.kind.isPoll && !$0.isOvertaken }) {
            fail("a sign-out is told while an approval is asked for")
        }
        if isSigningOut { fail("a sign-out is told before it is over here") }
    }

    /// Cancels a revocation in favour of a sign-in that may be the same user's.
    func interruptRevocation() {
        guard let number = calls.first(where: { $0.value.kind == .revocation })?.key else { return }
        coverage.note(.interruptedRevocations)
        plan(.revocationEnds(number), after: 0)
    }

    func apiCall(of user: String, with secrets: SessionSecrets) -> Call {
        let access = secrets.accessToken?.number
        judgeServed(access, to: user)
        coverage.note(.apiCalls)
        return Call(kind: .api, user: user, access: access, era: model.era, signOuts: model.signOuts)
    }

    private func given(_ secret: SharedSecret) -> Call.Given {
        // The format is `given:USER:GOOD:NUMBER`, where GOOD is 1 or 0.
        Call.Given(user: secret.user, isGood: secret.number % 2 == 1)
    }

    // MARK: Network

    /// Sends a call. It may take long, never arrive, or be answered after the owner has given it up.
    private func depart(_ number: Int, _ call: Call) {
        switch call.kind {
        case .userinfo: return plan(.userinfoAnswers(number), after: Int64(chance(3_000)))
        case .poll where call.tokens != nil, .renewal where call.tokens != nil:
            return plan(.userinfoAnswers(number), after: Int64(chance(3_000)))
        case .revocation: return plan(.revocationEnds(number), after: Int64(chance(8_000)))
        case .api: return plan(.apiAnswers(number), after: Int64(chance(3_000)))
        case .poll(let code): if chance(6) == 0 { plan(.personDecides(code), after: Int64(chance(9_000))) }
        case .exchange, .renewal, .authorization: break
        }
        plan(.answer(number, .unavailable(isAmbiguous: true, retryAfter: nil)), after: 10_000)
        let delay: Int64
        switch weather {
        case .unreachable:
            let answer = Answer.unavailable(isAmbiguous: false, retryAfter: nil)
            return plan(.answer(number, answer), after: Int64(chance(5_000)))
        case .lossy where chance(4) == 0: return
        case .slow: delay = Int64(chance(9_000))
        case .fine, .flaky, .busy, .lossy, .gateway: delay = Int64(chance(200))
        }
        plan(.arrival(number), after: delay)
    }

    /// Handles the arrival of a call: the provider may act on it or not, and may answer or not.
    func arrive(_ number: Int) {
        guard let call = calls[number] else { return }
        let back: Int64 = weather == .slow ? Int64(chance(6_000)) : Int64(chance(200))
        func reply(_ answer: Answer) { plan(.answer(number, answer), after: back) }
        switch (weather, chance(10)) {
        case (.gateway, _):
            reply(.unexplained(isOfToken: call.kind == .renewal && call.given == nil))
        case (.busy, 0..<9), (.flaky, 0..<3):
            if call.kind.isPoll, chance(2) == 0 { return reply(.undecided(.slowDown())) }
            let asked = chance(3) == 0 ? Duration.seconds(1 + chance(4_000)) : nil
            reply(.unavailable(isAmbiguous: false, retryAfter: asked))
        case (.flaky, 3), (.lossy, 0..<2):
            // A 502 before the provider has acted, or a broken connection.
            reply(.unavailable(isAmbiguous: true, retryAfter: nil))
        case (.flaky, 4..<6), (.lossy, 2..<5):
            // The provider has acted, and the answer is a 502, an invalid answer, or a Retry-After.
            _ = answer(to: call)
            let asked = chance(2) == 0 ? Duration.seconds(1 + chance(900)) : nil
            reply(.unavailable(isAmbiguous: true, retryAfter: asked))
        case (.lossy, 5):
            // The provider has acted, and the answer is lost.
            _ = answer(to: call)
        case (.flaky, 6) where call.kind == .renewal && call.given == nil && call.refresh != nil:
            // The provider has acted, and only the refresh token of the answer is usable.
            let answer = answer(to: call)
            if case .granted(let tokens) = answer { reply(.successor(tokens)) } else { reply(answer) }
        default:
            reply(answer(to: call))
        }
    }

    /// Lets the provider act on a call.
    func answer(to call: Call) -> Answer {
        let life = tokenLife()
        switch call.kind {
        case .authorization: return .codes(provider.authorize(at: time))
        case .poll(let code):
            guard call.tokens == nil else { return .refused }
            switch provider.poll(code, life: life, at: time) {
            case .granted(let tokens): return .granted(tokens)
            case .failed(let failure): return .undecided(failure)
            }
        case .exchange:
            if let link = call.link {
                // The user of the code may be known before the code is spent.
                if let expected = call.expected, expected != call.user, chance(2) == 0 { return .otherUser(call.user) }
                return answer(provider.redeem(link, life: life, at: time))
            }
            if let given = call.given, !given.isGood || given.user != call.user { return .refused }
            return answer(provider.exchange(for: call.user, life: life, at: time))
        case .renewal:
            if let given = call.given {
                guard given.isGood, given.user == call.user else { return .answerRefused }
                return answer(
                    scheme == .signInToken
                        ? provider.exchange(for: call.user, life: life, at: time)
                        : provider.renew(call.user, life: life, at: time)
                )
            }
            guard scheme == .signInToken, let refresh = call.refresh else {
                return answer(provider.renew(call.user, life: life, at: time))
            }
            return answer(provider.refresh(refresh, life: life, at: time))
        case .userinfo, .revocation, .api: return .refused
        }
    }

    private func answer(_ verdict: SimulatedProvider.Verdict) -> Answer {
        switch verdict {
        case .granted(let tokens): .granted(tokens)
        case .spent: .refused
        case .deleted: .deleted
        case .reauthentication: .reauthentication
        }
    }
}
