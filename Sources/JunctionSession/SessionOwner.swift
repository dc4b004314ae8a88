import JunctionSecret

/// The owner of the session: it feeds events to the machine and performs the machine's effects.
///
/// The owner runs on the executor that it is given (the daemon's event loop). Socket connections on the same loop call
/// it without waiting. Long work runs in a task of its own, independent of every caller, and returns as an event.
package actor SessionOwner {
    private let executor: any SerialExecutor
    private let tasks: any TaskExecutor
    let provider: any IdentityProvider
    private let store: any SessionStore
    private let clock: any SessionClock
    private let alarm: any SessionAlarm
    let observer: any SessionObserver

    /// The count by which callers check that a prepared answer is still valid.
    package nonisolated let changeCount = ChangeCount()
    var machine: SessionMachine { didSet { changeCount.rise() } }
    var secretStore = SecretStore() { didSet { changeCount.rise() } }
    var requests: [RequestID: OpenRequest] = [:]
    var calls: [RequestID: CallUnderWay] = [:]
    /// The open body streams of API calls, each with the user of its call.
    var streams: [(body: BodyStream, user: Identity)] = []
    /// Whether the caller that began the pending device sign-in may still do so. `nil` if the record does not name it.
    var deviceSignInPermit: (@Sendable () -> Bool)?
    /// The provider calls that wait for the write of their partial grant.
    var waitingForDisk: [AttemptID: CheckedContinuation<Bool, Never>] = [:]
    /// The session handlers, each with the function that asks it.
    var handlers: [HandlerID: @Sendable (RenewalQuestion) -> Void] = [:]
    var lastHandler: UInt64 = 0
    /// Ends the bootstrap credentials before a sign-out. Returns whether there was one.
    var endBootstrapCredentials: (@Sendable () -> Bool)?
    /// The error of every sign-in while only a restart can change the provider.
    var signInRefusal: SessionError?
    private var lastRequest: UInt64 = 0
    /// The secrets that were served after the last event.
    private var served: SecretRef?
    private var revocation: Task<Void, Never>?
    private var publishedRevision: UInt64 = 1
    private var watchers: [@Sendable (Snapshot) -> Void] = []
    private var quietWaiters: [@Sendable () -> Void] = []

    /// The session as every caller with the right may see it.
    package private(set) var snapshot: Snapshot { didSet { changeCount.rise() } }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    struct OpenRequest {
        var credential: Credential?
        /// Whether the caller may still change who is signed in.
        var isAllowed: @Sendable () -> Bool = { true }
        /// The caller of a device sign-in, stored with its codes. Its right is checked again after a restart.
        var caller: LocalCaller?
        var ask: @Sendable (RequestID, _ externalUserId: ExternalUserId) -> Void = { _, _ in }
        let deliver: (isolated SessionOwner, Reply.Outcome) -> Void
    }

    /// Creates the owner of a session that has not been started.
    ///
    /// - Parameters:
    ///   - executor: the executor of the owner. `tasks` is the same loop, for the tasks of the owner.
    ///   - callsPerMinute: the number of provider calls for the session that one local user may cause in a minute.
    ///   - apiCallsPerMinute: the number of API calls, which have a budget of their own. Default: the same number.
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
            rules: rules,
            callsPerMinute: callsPerMinute,
            apiCallsPerMinute: apiCallsPerMinute
        )
        self.machine = machine
        let now = clock.now()
        snapshot = Snapshot(revision: 1, changedAt: now.wall, facts: machine.facts(now: now))
    }

    // MARK: Events

    /// Takes over what the store held. Called once, before all other functions.
    ///
    /// - Parameters:
    ///   - durable: false if the record has yet to be written to the disk.
    ///   - mayManage: whether the caller that began a stored device sign-in may still sign a user in.
    ///     Called again after each change of rights.
    package func start(
        with restoration: Restoration,
        durable: Bool = true,
        mayManage: @escaping @Sendable (LocalCaller) -> Bool = { _ in true }
    ) {
        var secrets = SessionSecrets()
        if case .restored(_, let stored, _) = restoration { secrets = stored }
        let codes = secrets.codes.map { secretStore.put(.codes($0)) }
        let partialGrants = secrets.partialGrants.map { secretStore.put(.partialGrant($0)) }
        (secrets.codes, secrets.partialGrants) = (nil, [])
        let ref = secretStore.put(.session(secrets))
        var isAllowed = true
        if case .restored(let record, _, _) = restoration, let caller = record.deviceSignIn?.caller {
            deviceSignInPermit = { mayManage(caller) }
            isAllowed = mayManage(caller)
        }
        handle {
            $0.restored(
                restoration,
                secrets: ref,
                codes: codes,
                callerMayManage: isAllowed,
                partialGrants: partialGrants,
                durable: durable,
                now: $1
            )
        }
    }

    /// Calls `tell` with every new snapshot from now on, on the owner's executor, before the observer. `tell` must not
    /// change the session.
    package func watch(_ tell: @escaping @Sendable (Snapshot) -> Void) {
        watchers.append(tell)
    }

    /// Handles the alarm. `clockJumped`: the alarm rang because the wall clock was set or the machine resumed.
    package func alarmRang(clockJumped: Bool) {
        handle { clockJumped ? $0.clockJumped(now: $1) : $0.alarmRang(now: $1) }
    }

    /// Handles a change of the machine's network. It shortens the backoff of renewals, polls, revocations and the bootstrap
    /// credential.
    package func networkChanged() {
        handle { $0.networkChanged(now: $1) }
    }

    /// Calls back when the end of the process would lose no outcome, at once if that is already true.
    package func whenQuiet(_ callback: @escaping @Sendable () -> Void) {
        quietWaiters.append(callback)
        noticeQuiet()
    }

    /// The number of ended sessions and unused partial grants that the provider has not revoked yet.
    package var unconfirmedRevocations: Int { machine.revocations.list.count }

    /// Whether something is under way or waits that another provider could not complete: a request, a write, a sign-in,
    /// a revocation or a partial grant.
    package var isInUse: Bool {
        machine.isBusy || machine.callers.wantSignIn || unconfirmedRevocations > 0 || !machine.grants.secrets.isEmpty
    }

    private func noticeQuiet() {
        guard !machine.isBusy, !quietWaiters.isEmpty else { return }
        let waiters = quietWaiters
        quietWaiters = []
        for waiter in waiters { waiter() }
    }

    package nonisolated var now: Moment { clock.now() }

    /// Feeds one event to the machine, and performs its effects.
    func handle(_ event: (inout SessionMachine, Moment) -> [Effect]) {
        let now = now
        apply(event(&machine, now), now)
    }

    /// Feeds a caller's request to the machine. The answer is delivered once.
    func handle(_ request: OpenRequest, _ event: (inout SessionMachine, RequestID, Moment) -> [Effect]) {
        let id = newRequest()
        requests[id] = request
        handle { event(&$0, id, $1) }
    }

    func newRequest() -> RequestID {
        lastRequest += 1
        return RequestID(number: lastRequest)
    }

    // MARK: Effects

    /// Performs the effects, delivers answers, announces the snapshot, and sets the alarm, in this order.
    private func apply(_ effects: [Effect], _ now: Moment) {
        // Answers are delivered last: a caller's next request must find the state that its answer described.
        var deliveries: [() -> Void] = []
        for effect in effects {
            switch effect {
            case .exchange(let attempt, let request, let handlerSecret, let expected):
                exchange(attempt, request, completedWith: handlerSecret, expecting: expected)
            case .renew(let attempt, let identity, let secrets, let handlerSecret):
                renew(attempt, identity, with: secrets, using: handlerSecret)
            case .checkRegistration(let attempt, let identity, let secrets):
                checkRegistration(attempt, identity, with: secrets)
            case .requestDeviceAuthorization(let attempt, let request):
                requestDeviceAuthorization(attempt, request)
            case .poll(let attempt, let codes):
                poll(attempt, with: codes)
            case .write(let record, let secrets, let codes, let partialGrants, let unopened):
                write(record, secrets, codes, partialGrants, unopened)
            case .resumeProviderCall(let attempt, let isWanted):
                waitingForDisk.removeValue(forKey: attempt)?.resume(returning: isWanted)
            case .revoke(let identity, let secrets):
                revoke(identity, with: secrets)
            case .interruptRevocation:
                revocation?.cancel()
            case .report(let event):
                observer.happened(event)
            case .reply(let reply):
                guard let request = requests.removeValue(forKey: reply.request) else { continue }
                deliveries.append { [self] in request.deliver(self, reply.outcome) }
            case .ask(let request, let externalUserId):
                guard let ask = requests[request]?.ask else { continue }
                deliveries.append { ask(request, externalUserId) }
            case .askHandler(let handler, let question):
                guard let ask = handlers[handler] else { continue }
                deliveries.append { ask(question) }
            }
        }
        wipeUnused()
        renewSnapshot(now)
        endCalls()
        for deliver in deliveries { deliver() }
        // An answered caller may have made another request, which has already announced a newer snapshot.
        if publishedRevision < snapshot.revision {
            publishedRevision = snapshot.revision
            let snapshot = snapshot
            for tell in watchers { tell(snapshot) }
            observer.changed(snapshot)
        }
        alarm.set(machine.nextAlarm(now: now))
        noticeQuiet()
    }

    private func wipeUnused() {
        secretStore.keep(machine.secretsInUse)
        guard machine.servedSecrets != served else { return }
        served = machine.servedSecrets
        if served != nil { observer.reached(.swapped) }
    }

    private func renewSnapshot(_ now: Moment) {
        let facts = machine.facts(now: now)
        guard facts != snapshot.facts else { return }
        snapshot = Snapshot(revision: snapshot.revision + 1, changedAt: now.wall, facts: facts)
    }

    /// Starts work that no caller can cancel, on the owner's own loop. The default executor would wake the process once
    /// a second.
    @discardableResult
    func start(_ work: @escaping @Sendable (isolated SessionOwner) async -> Void) -> Task<Void, Never> {
        Task(executorPreference: tasks) { await work(self) }
    }

    /// Asks the provider to revoke a session that has ended here, or a partial grant.
    private func revoke(_ identity: Identity?, with ref: SecretRef) {
        let secrets = secretStore.session(ref) ?? SessionSecrets()
        let partialGrant = secretStore.partialGrant(ref)?.content
        revocation = start { owner in
            var failure: Unavailability?
            do throws(Unavailability) {
                if let identity { try await owner.provider.revoke(identity, with: secrets) }
                if let partialGrant { try await owner.provider.revokePartialGrant(partialGrant) }
            } catch {
                failure = error
            }
            owner.handle { $0.revocationEnded(failure: failure, now: $1) }
        }
    }

    private func write(
        _ record: SessionRecord,
        _ ref: SecretRef?,
        _ codes: SecretRef?,
        _ partialGrants: [SecretRef],
        _ unopened: UnopenedRecords
    ) {
        var sealed = secretStore.session(ref) ?? SessionSecrets()
        sealed.codes = secretStore.codes(codes)
        sealed.partialGrants = partialGrants.compactMap(secretStore.partialGrant)
        let secrets = sealed
        start { owner in
            var failure: StoreFailure?
            do throws(StoreFailure) {
                try await owner.store.write(record, secrets, unopened: unopened)
            } catch {
                failure = error
            }
            owner.handle { $0.writeEnded(failure: failure, now: $1) }
        }
    }
}
