import Testing

@testable import JunctionSession

/// The errors that callers get when no handler could help.
struct HandlerMessageTests {
    @Test func `the error says how many handlers were asked, when they are asked again, and what to do`() {
        var bench = Bench.renewalDue(handlers: 1, 2)
        let request = bench.renew()
        bench.answerQuestion(.unable)
        bench.answerQuestion(.unable)

        let seconds = bench.retryAfter(of: request).map { ($0.wholeMilliseconds + 999) / 1_000 }
        #expect(bench.refusal(of: request) == .providerUnavailable)
        #expect(
            bench.message(of: request)
                == "The session cannot be renewed now: no session handler could help (2 were asked); the "
                + "last one could not get a token. It is kept, and they are asked again in \(seconds ?? 0) s, or sooner by "
                + "session.renew (junctionctl renew), which asks at most once in ten seconds. "
                + "See why the app has no token, or sign in again"
        )
        #expect(
            bench.facts.renewal.lastError
                == "unableToRetrieveAuthToken: no session handler could help (2 were asked); the last one could not "
                + "get a token"
        )
    }

    @Test func `without a handler during a postponement, the error says that session renew is needed`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.pass(.seconds(3_600))
        bench.answerQuestion(.unable)
        bench.unregister(1)
        bench.pass(.seconds(20))

        let request = bench.renew()

        #expect(bench.message(of: request)?.hasSuffix("and then call session.renew (junctionctl renew)") == true)
        bench.register(2, of: 1)
        #expect(bench.everAsked.count == 1)
    }

    @Test func `a repeated session renew says when it asks the handlers again`() {
        var bench = Bench.signedIn(life: .seconds(60), mode: .handler)
        bench.register(1)
        bench.renew()
        bench.answerQuestion(.unable)
        bench.pass(.seconds(3))

        let request = bench.renew()

        #expect(bench.everAsked.count == 1)
        #expect(bench.retryAfter(of: request) == .seconds(7))
        #expect(
            bench.message(of: request)
                == "The session cannot be renewed now: no session handler could help (1 was asked); the last one could not get a token. "
                + "It is kept, and session.renew (junctionctl renew) asks the handlers again in 7 s at the earliest. See why the app has no token, "
                + "or sign in again"
        )
        bench.pass(.seconds(7))
        bench.renew()
        #expect(bench.everAsked.count == 2)
    }

    @Test func `a refused answer is given as the reason`() {
        var bench = Bench.renewalDue(handlers: 1)
        let request = bench.renew()
        bench.answerQuestion(.credential)
        bench.failRenewal(.answerRefused("The token is for another user"))
        #expect(
            bench.message(of: request)?.contains(
                "no session handler could help (1 was asked); the last answer was refused: "
                    + "The token is for another user."
            ) == true
        )
    }

    @Test func `a silent, disconnected or failing handler is given as the reason`() {
        var silent = Bench.renewalDue(handlers: 1)
        let unanswered = silent.renew()
        silent.pass(.seconds(61))
        #expect(silent.message(of: unanswered)?.contains("; the last one did not answer in time. ") == true)

        var gone = Bench.renewalDue(handlers: 1)
        let left = gone.renew()
        gone.perform(gone.machine.handlerGone(HandlerID(number: 1, uid: 1), now: gone.now))
        #expect(gone.message(of: left)?.contains("; the last one has gone. ") == true)

        var failing = Bench.renewalDue(handlers: 1)
        let failed = failing.renew()
        let open = failing.questions[0].question.attempt
        let answer = HandlerAnswer.failed("the token server is away")
        failing.perform(failing.machine.handlerAnswered(HandlerID(number: 1, uid: 1), open, answer, now: failing.now))
        // The handler's words may hold a secret, and this text reaches the log.
        #expect(failing.message(of: failed)?.contains("; the last one answered with an error. ") == true)
    }

    @Test func `the caller of a sign-in gets the words of a handler, and the log does not`() {
        var bench = Bench(mode: .handler)
        bench.register(1)
        let request = bench.signIn(.registration(of: "alice"))
        let open = bench.questions[0].question.attempt
        let answer = HandlerAnswer.failed("401 for Bearer s3cret")
        bench.perform(bench.machine.handlerAnswered(HandlerID(number: 1, uid: 1), open, answer, now: bench.now))

        #expect(bench.message(of: request)?.contains("the last one said: 401 for Bearer s3cret") == true)
        #expect(!bench.reports.contains { "\($0)".contains("s3cret") })
        #expect(bench.reports.contains { "\($0)".contains("no session handler could help (1 was asked)") })
    }

    @Test func `an error that the log has too contains no words of a handler`() {
        var (bench, request) = Bench.withRefusedToken()
        let open = bench.questions[0]
        let answer = HandlerAnswer.failed("401 for Bearer s3cret")
        bench.perform(bench.machine.handlerAnswered(open.handler, open.question.attempt, answer, now: bench.now))

        #expect(bench.refusal(of: request) == .invalidCredential)
        #expect(bench.message(of: request)?.contains("no session handler could help (2 were asked)") == true)
        #expect(bench.message(of: request)?.contains("s3cret") == false)
    }

    @Test func `an expired token gets the same message while postponed, also after a restart`() throws {
        var bench = Bench.signedIn(life: .seconds(60), mode: .handler)
        bench.pass(.seconds(61))
        bench.register(1)
        bench.answerQuestion(.unable)
        bench.pass(.seconds(100))
        let request = bench.token()
        #expect(
            bench.message(of: request)?.contains(
                "no session handler could help (1 was asked); the last one could not get a token. It is kept"
            ) == true
        )
        #expect((bench.retryAfter(of: request) ?? .zero) >= .seconds(500))

        var restarted = bench.restarted(mode: .handler)
        let again = restarted.token()
        #expect(restarted.message(of: again) == bench.message(of: request))
        #expect(restarted.retryAfter(of: again) == bench.retryAfter(of: request))
        #expect(restarted.facts.renewal.lastError == bench.facts.renewal.lastError)

        // A record of an earlier release has no reason.
        var record = try #require(bench.written.last)
        var stored = try #require(bench.storedSession)
        stored.postponement = StoredPostponement(until: try #require(stored.postponement).until)
        record.content = .session(stored)
        var updated = Bench(at: bench.now, mode: .handler, .restored(record, SessionSecrets(), damaged: nil))
        let unexplained = updated.token()
        #expect(updated.message(of: unexplained)?.contains("no session handler could help. It is kept") == true)
    }

    @Test func `a failed attempt during a postponement keeps the reason why no handler could help`() {
        var bench = Bench.signedIn(life: .seconds(60), mode: .handler)
        bench.pass(.seconds(61))
        bench.register(1)
        bench.answerQuestion(.unable)
        bench.pass(.seconds(20))
        bench.renew()
        bench.answerQuestion(.renew)
        bench.failRenewal(.unavailable(Unavailability("No network")))
        #expect(bench.facts.renewal.phase == .postponed)

        let request = bench.token()

        #expect(
            bench.message(of: request)?.contains(
                "no session handler could help (1 was asked); the last one could not get a token. It is kept"
            ) == true
        )
    }

    @Test func `the error says that no handler is registered, and how to register one`() {
        var bench = Bench.signedIn(life: .seconds(60), mode: .handler)
        bench.pass(.seconds(61))
        #expect(bench.facts.renewal.phase == .waitingForHandler)
        for request in [bench.token(), bench.renew()] {
            #expect(bench.refusal(of: request) == .tokenExpired)
            #expect(bench.retryAfter(of: request) == nil)
            #expect(
                bench.message(of: request)
                    == "The session cannot be renewed now: no session handler is registered. Register one "
                    + "(handler.register, or junctionctl handle-renewals --exec COMMAND), and the renewal begins"
            )
        }
    }

    @Test func `while the token lives, a renewal without a handler fails for now, and the token is not expired`() {
        var bench = Bench.signedIn(mode: .handler)
        let request = bench.renew()
        #expect(bench.state == .established)
        #expect(bench.refusal(of: request) == .providerUnavailable)
        #expect(bench.message(of: request)?.contains("no session handler is registered") == true)
    }

    @Test func `a caller that wants a longer validity while no handler can help learns that the token is valid`() {
        var bench = Bench.renewalDue(handlers: 1)
        let longer = bench.token(validFor: .seconds(2_000))
        let rejected = bench.rejected(1)
        bench.answerQuestion(.unable)
        #expect(bench.state == .established)
        #expect(bench.refusal(of: longer) == .busy)
        #expect((bench.retryAfter(of: longer) ?? .zero) >= .seconds(600))
        #expect(bench.reply(to: rejected) == .rejectionStands)
    }

    @Test func `the repeated failure of a renewal is tokenExpired once the token has expired`() {
        var bench = Bench.signedIn(life: .seconds(60), mode: .handler)
        bench.register(1)
        bench.pass(.seconds(57))
        bench.answerQuestion(.unable)
        let alive = bench.renew()
        bench.answerQuestion(.unable)
        #expect(bench.refusal(of: alive) == .providerUnavailable)
        bench.pass(.seconds(4))
        #expect(bench.state == .tokenExpired)
        #expect(bench.refusal { $0.renew() } == .tokenExpired)
    }

    @Test(
        arguments: [
            (
                0,
                "The sign-in brings no token, and no session handler is registered. Register one (handler.register, or "
                    + "junctionctl handle-renewals --exec COMMAND), or hand the token in"
            ),
            (
                1,
                "The sign-in brings no token, and no session handler could help (1 was asked); the last one could not get a "
                    + "token. See why the app has none, or hand the token in"
            ),
        ] as [(UInt64, String)]
    )
    func `the error of a sign-in without a token says how many handlers were asked`(handlers: UInt64, message: String) {
        var bench = Bench(mode: .handler)
        if handlers > 0 { bench.register(1) }
        let request = bench.signIn(.registration(of: "alice"))
        if handlers > 0 { bench.answerQuestion(.unable) }
        #expect(bench.message(of: request) == message)
        #expect(bench.refusal(of: request) == .providerUnavailable)
        #expect(bench.state == .notLoggedIn)
    }
}
