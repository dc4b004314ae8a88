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
    let observer: any SessionObserver

    /// Which answers that were prepared are still the right ones.
    package nonisolated let changeCount = ChangeCount()
    var machine: SessionMachine { didSet { changeCount.rise() } }
    var shelf = SecretShelf() { didSet { changeCount.rise() } }
    /// The requests that have not been answered.
    var requests: [RequestID: OpenRequest] = [:]
    /// The API calls that have not been answered.
    var calls: [RequestID: CallUnderWay] = [:]
    /// The bodies of API calls that are passing, each with the user whose call it is.
    var streams: [(body: BodyStream, user: Identity)] = []
    /// Whether who began the sign-in that awaits approval may still do so; nothing after a restart.
    var approvalPermit: (@Sendable () -> Bool)?
    /// The sign-ins that wait until what was granted for them is on the disk.
    var waitingForDisk: [Attempt: CheckedContinuation<Bool, Never>] = [:]
    /// The session handlers, and how each is asked.
    var handlers: [HandlerID: @Sendable (RenewalQuestion) -> Void] = [:]
    var lastHandler: UInt64 = 0
    /// Ends the bootstrap credentials before a sign-out; returns whether there was one.
    var endBootstrapCredentials: (@Sendable () -> Bool)?
    private var lastRequest: UInt64 = 0
    /// The secrets that are served: what is new here has been swapped in.
    private var served: SecretRef?
    /// The request by which the provider is being told of a sign-out.
    private var revocation: Task<Void, Never>?
    /// The newest revision that watchers have heard of.
    private var announced: UInt64 = 1
    private var watchers: [@Sendable (Snapshot) -> Void] = []
    private var quietWaiters: [@Sendable () -> Void] = []

    /// The session as everybody may see it.
    package private(set) var snapshot: Snapshot { didSet { changeCount.rise() } }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// A request that has not been answered.
    struct OpenRequest {
        /// The credential that came with a sign-in or an identify call.
        var credential: Credential?
        /// Whether who asked to change who is signed in may still do so.
        var isAllowed: @Sendable () -> Bool = { true }
        /// How the app of an identify call is asked for a credential.
        var ask: @Sendable (RequestID, _ externalUserId: ExternalUserId) -> Void = { _, _ in }
        let deliver: (isolated SessionOwner, Reply.Outcome) -> Void
    }

    /// - Parameters:
    ///   - executor: where the owner lives; `tasks` is the same loop, for what it starts.
    ///   - rules: who decides about renewals, and how long apps may take.
    ///   - callsPerMinute: calls of the session to the provider that one local user may cause in a minute.
    ///   - apiCallsPerMinute: API calls, which are counted apart; as many, if nothing is given.
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
        apiCallsPerMinute: Int? = nil,
        seed: UInt64
    ) {
        self.provider = provider
        self.store = store
        self.clock = clock
        self.alarm = alarm
        self.observer = observer
        self.executor = executor
        self.tasks = tasks
        let machine = SessionMachine(
            provider: provider.name,
            schemes: provider.schemes,
            sealedWith: store.sealedWith,
            seed: seed,
            mode: rules.mode,
            handlerTimeout: rules.handlerTimeout,
            postponement: rules.postponement,
            callsPerMinute: callsPerMinute,
            apiCallsPerMinute: apiCallsPerMinute
        )
        self.machine = machine
        let now = clock.now()
        snapshot = Snapshot(revision: 1, changedAt: now.wall, facts: machine.facts(now: now))
    }

    /// Takes over what the store held. Called once, before anything else.
    ///
    /// - Parameter durable: false when the disk has yet to take it.
    package func start(with restoration: Restoration, durable: Bool = true) {
        var secrets = SessionSecrets()
        if case .restored(_, let stored, _) = restoration { secrets = stored }
        let codes = secrets.codes.map { shelf.put($0) }
        let partialGrants = secrets.partialGrants.map { shelf.put($0) }
        (secrets.codes, secrets.partialGrants) = (nil, [])
        let now = now
        let ref = shelf.put(secrets)
        let effects = machine.restored(
            restoration,
            secrets: ref,
            codes: codes,
            partialGrants: partialGrants,
            durable: durable,
            now: now
        )
        apply(effects, now)
    }

    /// From now on `tell` is called with every new snapshot, on the owner's executor, before the observer is. It
    /// must not change anything about the session.
    package func watch(_ tell: @escaping @Sendable (Snapshot) -> Void) {
        watchers.append(tell)
    }

    /// The alarm rang; `clockJumped` when it rang because the wall clock was set or the machine resumed.
    package func alarmRang(clockJumped: Bool) {
        let now = now
        apply(clockJumped ? machine.clockJumped(now: now) : machine.alarmRang(now: now), now)
    }

    /// The machine's network has changed: what waits for a provider that could not be reached is tried again soon.
    package func networkChanged() {
        let now = now
        apply(machine.networkChanged(now: now), now)
    }

    /// Calls back when nothing is under way whose outcome would be lost; at once if that is so now.
    package func whenQuiet(_ callback: @escaping @Sendable () -> Void) {
        quietWaiters.append(callback)
        noticeQuiet()
    }

    private func noticeQuiet() {
        guard !machine.isBusy, !quietWaiters.isEmpty else { return }
        let waiters = quietWaiters
        quietWaiters = []
        for waiter in waiters { waiter() }
    }

    /// What both clocks show.
    package nonisolated var now: Moment { clock.now() }

    // MARK: Carrying out

    /// Does what the machine wants done, answers, tells the watchers, and sets the alarm: in this order.
    func apply(_ effects: [Effect], _ now: Moment) {
        // Callers hear of it last: what they do next must meet the state that they were told of.
        var announcements: [() -> Void] = []
        for effect in effects {
            switch effect {
            case .exchange(let attempt, let request, let given, let expected):
                exchange(attempt, request, completedWith: given, expecting: expected)
            case .renew(let attempt, let identity, let secrets, let given):
                renew(attempt, identity, with: secrets, using: given)
            case .authorize(let attempt, let request):
                authorize(attempt, request)
            case .poll(let attempt, let codes):
                poll(attempt, with: codes)
            case .write(let ticket, let record, let secrets, let codes, let partialGrants):
                write(ticket, record, secrets, codes, partialGrants)
            case .goOn(let attempt, let isWanted):
                goOn(attempt, isWanted)
            case .giveBack(let grant):
                guard let content = shelf.partialGrant(grant)?.content else { continue }
                start { await $0.provider.giveBack(content) }
            case .revoke(let revocation, let identity, let secrets):
                revoke(revocation, identity, with: secrets)
            case .interrupt:
                revocation?.cancel()
            case .report(let happening):
                observer.happened(happening)
            case .reply(let reply):
                guard let request = requests.removeValue(forKey: reply.request) else { continue }
                announcements.append { [self] in request.deliver(self, reply.outcome) }
            case .ask(let request, let externalUserId):
                guard let ask = requests[request]?.ask else { continue }
                announcements.append { ask(request, externalUserId) }
            case .askHandler(let handler, let question):
                guard let ask = handlers[handler] else { continue }
                announcements.append { ask(question) }
            }
        }
        keepSecrets()
        renewSnapshot(now)
        endCalls()
        for announce in announcements { announce() }
        // Whoever was answered may have called back in, and what is newer has been announced then.
        if announced < snapshot.revision {
            announced = snapshot.revision
            let snapshot = snapshot
            for tell in watchers { tell(snapshot) }
            observer.changed(snapshot)
        }
        alarm.set(machine.nextAlarm(now: now))
        noticeQuiet()
    }

    /// What no part of the machine names any more is wiped.
    private func keepSecrets() {
        shelf.keep(machine.secretsInUse)
        guard machine.servedSecrets != served else { return }
        served = machine.servedSecrets
        if served != nil { observer.reached(.swapped) }
    }

    private func renewSnapshot(_ now: Moment) {
        let facts = machine.facts(now: now)
        guard facts != snapshot.facts else { return }
        snapshot = Snapshot(revision: snapshot.revision + 1, changedAt: now.wall, facts: facts)
    }

    // MARK: What takes time

    private func exchange(
        _ attempt: Attempt,
        _ request: RequestID,
        completedWith given: SecretRef?,
        expecting expected: Identity?
    ) {
        guard let credential = requests[request]?.credential?.completed(with: shelf.answer(given)) else {
            return report(attempt, .credentialGone)
        }
        let keeper = keeper(attempt, of: credential.oneTimeSecret)
        start { owner in
            do throws(ExchangeFailure) {
                let grant = try await owner.provider.exchange(credential, expecting: expected, keeper: keeper)
                let now = owner.now
                owner.apply(owner.machine.exchangeSucceeded(attempt, owner.put(grant), now: now), now)
            } catch {
                let now = owner.now
                owner.apply(owner.machine.exchangeFailed(attempt, error, now: now), now)
            }
        }
    }

    /// An exchange that never left, told on a turn of its own.
    func report(_ attempt: Attempt, _ failure: ExchangeFailure) {
        start { owner in
            let now = owner.now
            owner.apply(owner.machine.exchangeFailed(attempt, failure, now: now), now)
        }
    }

    private func renew(_ attempt: Attempt, _ identity: Identity, with ref: SecretRef, using given: SecretRef?) {
        let own = shelf.secrets(ref) ?? SessionSecrets()
        var secrets = own
        secrets.accessTokenEndsAt = machine.standing.session?.endsAt
        if let end = secrets.accessTokenEndsAt, end <= now.uptime {
            // What the provider would say to it says nothing about the user.
            secrets.accessToken = nil
        }
        let answer = shelf.answer(given) ?? .renew
        let (shown, departure) = (secrets, machine.renewal.departure)
        observer.reached(.intentNoted)
        start { owner in
            do throws(RenewalFailure) {
                let grant = try await owner.provider.renew(
                    identity,
                    with: shown,
                    using: answer,
                    departingBy: departure
                )
                owner.observer.reached(.answered)
                owner.renewed(attempt, grant, keeping: own)
            } catch {
                let now = owner.now
                owner.apply(owner.machine.renewalFailed(attempt, error, now: now), now)
            }
        }
    }

    private func renewed(_ attempt: Attempt, _ grant: Grant, keeping own: SessionSecrets) {
        let now = now
        guard grant.token != nil else {
            fellShort(attempt, grant, keeping: own, now)
            return
        }
        // An answer without a refresh token keeps the old one (RFC 6749 §6).
        var grant = grant
        grant.refreshToken = grant.refreshToken ?? own.refreshToken
        grant.subjectTokenType = grant.subjectTokenType ?? own.subjectTokenType
        // Those of the sign-in stay. A record of an earlier release has none until its first renewal.
        grant.endpointOrigins = own.endpointOrigins ?? grant.endpointOrigins
        apply(machine.renewalSucceeded(attempt, put(grant), now: now), now)
    }

    /// The answer has no usable access token. Its refresh token replaces the session's own all the same; an answer without one
    /// leaves unknown what the provider did.
    private func fellShort(_ attempt: Attempt, _ grant: Grant, keeping own: SessionSecrets, _ now: Moment) {
        var failure =
            grant.shortfall ?? Unavailability("The provider's answer to the renewal holds no access token")
        guard let refreshToken = grant.refreshToken else {
            failure.ambiguous = true
            apply(machine.renewalFailed(attempt, .unavailable(failure), now: now), now)
            return
        }
        var secrets = own
        secrets.refreshToken = refreshToken
        let granted = Granted(
            identity: grant.identity,
            scheme: grant.scheme,
            life: nil,
            secrets: shelf.put(secrets)
        )
        apply(machine.renewalFellShort(attempt, granted, failure, now: now), now)
    }

    /// What the provider granted, as the machine sees it.
    func put(_ grant: Grant) -> Granted {
        var secrets = SessionSecrets(
            accessToken: grant.token?.secret,
            refreshToken: grant.refreshToken,
            apiKey: grant.apiKey,
            subjectTokenType: grant.subjectTokenType
        )
        secrets.endpointOrigins = grant.endpointOrigins
        return Granted(
            identity: grant.identity,
            scheme: grant.scheme,
            life: grant.token?.life,
            secrets: shelf.put(secrets)
        )
    }

    /// The user is signed out here already, whether or not the provider hears of it.
    private func revoke(_ id: RevocationID, _ identity: Identity, with ref: SecretRef) {
        let secrets = shelf.secrets(ref) ?? SessionSecrets()
        revocation = start { owner in
            var failure: Unavailability?
            do throws(Unavailability) {
                try await owner.provider.revoke(identity, with: secrets)
            } catch {
                failure = error
            }
            let now = owner.now
            owner.apply(owner.machine.revocationEnded(id, failure: failure, now: now), now)
        }
    }

    /// The machine asks for the next write when this one has ended, so there is never more than one.
    private func write(
        _ ticket: WriteTicket,
        _ record: SessionRecord,
        _ ref: SecretRef?,
        _ codes: SecretRef?,
        _ partialGrants: [SecretRef]
    ) {
        var sealed = shelf.secrets(ref) ?? SessionSecrets()
        sealed.codes = shelf.codes(codes)
        sealed.partialGrants = partialGrants.compactMap(shelf.partialGrant)
        let secrets = sealed
        start { owner in
            var failure: StoreFailure?
            do throws(StoreFailure) {
                try await owner.store.write(record, secrets)
            } catch {
                failure = error
            }
            let now = owner.now
            owner.apply(owner.machine.writeEnded(ticket, failure: failure, now: now), now)
        }
    }

    /// Starts work that no caller can cancel, on the owner's own loop: the default executor would wake the process
    /// once a second for ever.
    @discardableResult
    func start(_ work: @escaping @Sendable (isolated SessionOwner) async -> Void) -> Task<Void, Never> {
        Task(executorPreference: tasks) { await work(self) }
    }

    /// A name for a new request.
    func newRequest() -> RequestID {
        lastRequest += 1
        return RequestID(number: lastRequest)
    }
}
