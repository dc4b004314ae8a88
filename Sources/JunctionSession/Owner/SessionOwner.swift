import JunctionSecret

/// The one owner of the session: feeds events to the machine, and carries its effects out.
///
/// It runs on the executor it is given (the daemon's event loop), where the socket's handlers may call it without
/// waiting; what takes time is a task of its own, detached from every caller, and comes back as an event.
package actor SessionOwner {
    private let executor: any SerialExecutor
    private let tasks: any TaskExecutor
    let provider: any IdentityProvider
    private let store: any SessionStore
    private let clock: any SessionClock
    private let alarm: any SessionAlarm
    private let observer: any SessionObserver

    var machine: SessionMachine
    var shelf = SecretShelf()
    var budget: CallBudget
    /// The callers who wait for an answer.
    var callers: [RequestID: Caller] = [:]
    /// The session handlers, and how each is asked.
    var handlers: [HandlerID: @Sendable (RenewalQuestion) -> Void] = [:]
    var lastHandler: UInt64 = 0
    private var lastRequest: UInt64 = 0
    private var waitingWrites: [WaitingWrite] = []
    private var isWriting = false
    /// The request by which the provider is being told of a sign-out.
    private var telling: Task<Void, Never>?
    private var quietWaiters: [@Sendable () -> Void] = []

    /// The session as everybody may see it.
    package private(set) var snapshot: Snapshot

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Who asked, what came with it, and how the answer is delivered.
    struct Caller {
        var uid: UInt32
        var credential: Credential?
        var ask: (@Sendable (RequestID, _ externalUserId: String) -> Void)?
        var answer: @Sendable (Reply) -> Void
    }

    private struct WaitingWrite {
        var ticket: WriteTicket
        var record: SessionRecord
        var secrets: SessionSecrets
    }

    /// - Parameters:
    ///   - executor: where the owner lives; `tasks` is the same loop, for what it starts.
    ///   - rules: who decides about renewals, and how long apps may take.
    ///   - callsPerMinute: provider calls that one local user may cause in a minute.
    ///   - seed: for the machine's draws.
    package init(
        provider: any IdentityProvider,
        store: any SessionStore,
        clock: any SessionClock,
        alarm: any SessionAlarm,
        observer: any SessionObserver,
        executor: any SerialExecutor,
        tasks: any TaskExecutor,
        rules: RenewalRules = RenewalRules(),
        callsPerMinute: Int,
        seed: UInt64
    ) {
        self.provider = provider
        self.store = store
        self.clock = clock
        self.alarm = alarm
        self.observer = observer
        self.executor = executor
        self.tasks = tasks
        budget = CallBudget(callsPerMinute: callsPerMinute)
        let machine = SessionMachine(
            provider: provider.name,
            sealedWith: store.sealedWith,
            seed: seed,
            mode: rules.mode,
            patience: rules.handlerTimeout,
            postponement: rules.postponement
        )
        self.machine = machine
        let now = clock.now()
        snapshot = Snapshot(revision: 1, changedAt: now.wall, facts: machine.facts(now: now))
    }

    /// Takes over what the store held. Called once, before anything else.
    ///
    /// - Parameter durable: false when the disk has yet to take it.
    package func start(with restoration: Restoration, durable: Bool = true) {
        if case .restored(let record, let secrets, _) = restoration {
            shelf.put(secrets, generation: record.generation)
        }
        let now = now
        apply(machine.restored(restoration, durable: durable, now: now), now)
    }

    /// The alarm rang; `clockJumped` when it rang because the wall clock was set or the machine resumed.
    package func alarmRang(clockJumped: Bool) {
        let now = now
        apply(clockJumped ? machine.clockJumped(now: now) : machine.alarmRang(now: now), now)
    }

    /// Calls back when nothing is under way whose outcome would be lost; at once if that is so now.
    package func whenQuiet(_ callback: @escaping @Sendable () -> Void) {
        quietWaiters.append(callback)
        noticeQuiet()
    }

    private func noticeQuiet() {
        guard !machine.isBusy, !isWriting, !quietWaiters.isEmpty else { return }
        let waiters = quietWaiters
        quietWaiters = []
        for waiter in waiters { waiter() }
    }

    var now: Moment { clock.now() }

    // MARK: Carrying out

    /// Does what the machine wants done, answers, tells the watchers, and sets the alarm: in this order.
    func apply(_ effects: [Effect], _ now: Moment) {
        // Callers hear of it last: what they do next must meet the state that they were told of.
        var tellings: [() -> Void] = []
        for effect in effects {
            switch effect {
            case .reply(let request, let reply):
                guard let caller = callers.removeValue(forKey: request) else { continue }
                tellings.append { caller.answer(reply) }
            case .ask(let request, let externalUserId):
                guard let ask = callers[request]?.ask else { continue }
                tellings.append { ask(request, externalUserId) }
            case .askHandler(let handler, let question):
                guard let ask = handlers[handler] else { continue }
                tellings.append { ask(question) }
            default:
                carryOut(effect, now)
            }
        }
        let changed = renewSnapshot(now)
        for tell in tellings { tell() }
        if changed { observer.changed(snapshot) }
        alarm.set(machine.nextAlarm(now: now))
        noticeQuiet()
    }

    private func renewSnapshot(_ now: Moment) -> Bool {
        let facts = machine.facts(now: now)
        guard facts != snapshot.facts else { return false }
        snapshot = Snapshot(revision: snapshot.revision + 1, changedAt: now.wall, facts: facts)
        return true
    }

    private func carryOut(_ effect: Effect, _ now: Moment) {
        switch effect {
        case .exchange(let attempt, let request, let expected):
            exchange(attempt, request, expecting: expected)
        case .renew(let attempt):
            renew(attempt)
        case .abandon(let attempt):
            shelf.drop(attempt)
        case .adopt(let attempt, let generation):
            shelf.adopt(attempt, generation: generation)
        case .adoptKey(let request, let generation):
            if case .apiKey(let key, _, _, _) = callers[request]?.credential {
                shelf.put(SessionSecrets(apiKey: key), generation: generation)
            }
        case .write(let ticket, let record):
            write(ticket, record)
        case .activate(let generation):
            shelf.activate(generation)
            observer.reached(.swapped)
        case .erase:
            shelf.erase()
        case .keepAnswer(let attempt, let use):
            shelf.keepAnswer(to: attempt, for: use)
        case .forgetAnswer(let use):
            shelf.forgetAnswer(for: use)
        case .keepSecrets(let source, let revocation):
            shelf.keep(source, for: revocation)
        case .revoke(let revocation, let identity):
            revoke(revocation, identity)
        case .interrupt:
            telling?.cancel()
        case .forgetSecrets(let revocation):
            shelf.forget(revocation)
        case .charge(let request):
            if let caller = callers[request] { budget.charge(caller.uid, now: now) }
        case .report(let happening):
            observer.happened(happening)
        case .reply, .ask, .askHandler:
            break
        }
    }

    // MARK: What takes time

    private func exchange(_ attempt: Attempt, _ request: RequestID, expecting expected: Identity?) {
        guard let given = callers[request]?.credential else {
            preconditionFailure("An exchange was begun for a request without a credential")
        }
        let credential = given.completed(with: shelf.answers[.exchange])
        start { owner in
            do throws(ExchangeFailure) {
                let grant = try await owner.provider.exchange(credential, expecting: expected)
                owner.exchanged(attempt, grant)
            } catch {
                let now = owner.now
                owner.apply(owner.machine.exchangeFailed(attempt, error, now: now), now)
            }
        }
    }

    private func exchanged(_ attempt: Attempt, _ grant: Grant) {
        shelf.put(
            SessionSecrets(
                accessToken: grant.token?.secret,
                refreshToken: grant.refreshToken,
                apiKey: grant.apiKey
            ),
            of: attempt
        )
        let now = now
        let token = grant.token.map { (issuedAt: $0.issuedAt, expiresAt: $0.expiresAt) }
        apply(machine.exchangeSucceeded(attempt, grant.identity, grant.scheme, token: token, now: now), now)
    }

    private func renew(_ attempt: Attempt) {
        guard let identity = machine.identity, let secrets = shelf.current else {
            preconditionFailure("A renewal was begun without a session")
        }
        let answer = shelf.answers[.renewal] ?? .renew
        observer.reached(.intentNoted)
        start { owner in
            do throws(RenewalFailure) {
                let grant = try await owner.provider.renew(identity, with: secrets, using: answer)
                owner.observer.reached(.answered)
                owner.renewed(attempt, grant, keeping: secrets.refreshToken)
            } catch {
                let now = owner.now
                owner.apply(owner.machine.renewalFailed(attempt, error, now: now), now)
            }
        }
    }

    private func renewed(_ attempt: Attempt, _ grant: Grant, keeping refreshToken: SharedSecret?) {
        let now = now
        guard let token = grant.token else {
            let failure = Unavailability("The provider's answer to the renewal holds no access token", ambiguous: true)
            apply(machine.renewalFailed(attempt, .unavailable(failure), now: now), now)
            return
        }
        // An answer without a refresh token keeps the old one (RFC 6749 §6).
        shelf.put(
            SessionSecrets(accessToken: token.secret, refreshToken: grant.refreshToken ?? refreshToken),
            of: attempt
        )
        let effects = machine.renewalSucceeded(
            attempt,
            issuedAt: token.issuedAt,
            expiresAt: token.expiresAt,
            now: now
        )
        apply(effects, now)
    }

    /// The user is signed out here already, whether or not the provider hears of it.
    private func revoke(_ revocation: RevocationID, _ identity: Identity) {
        let secrets = shelf[revocation] ?? SessionSecrets()
        telling = start { owner in
            var failure: Unavailability?
            do throws(Unavailability) {
                try await owner.provider.revoke(identity, with: secrets)
            } catch {
                failure = error
            }
            let now = owner.now
            owner.apply(owner.machine.revocationEnded(revocation, failure: failure, now: now), now)
        }
    }

    private func write(_ ticket: WriteTicket, _ record: SessionRecord) {
        let secrets = shelf[record.generation] ?? SessionSecrets()
        waitingWrites.append(WaitingWrite(ticket: ticket, record: record, secrets: secrets))
        guard !isWriting else { return }
        isWriting = true
        start { owner in await owner.writeAll() }
    }

    private func writeAll() async {
        while !waitingWrites.isEmpty {
            let next = waitingWrites.removeFirst()
            var failure: StoreFailure?
            do throws(StoreFailure) {
                try await store.write(next.record, next.secrets)
            } catch {
                failure = error
            }
            if waitingWrites.isEmpty { isWriting = false }
            let now = now
            apply(machine.writeEnded(next.ticket, failure: failure, now: now), now)
            if !isWriting { return }
        }
    }

    /// Starts work that no caller can cancel, on the owner's own loop: the default executor would wake the process
    /// once a second for ever.
    @discardableResult
    func start(_ work: @escaping @Sendable (isolated SessionOwner) async -> Void) -> Task<Void, Never> {
        Task(executorPreference: tasks) { await work(self) }
    }

    func register(_ caller: Caller) -> RequestID {
        lastRequest += 1
        let request = RequestID(number: lastRequest)
        callers[request] = caller
        return request
    }
}
