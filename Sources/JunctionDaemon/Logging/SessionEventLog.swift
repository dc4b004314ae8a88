import JunctionProtocol
import JunctionProviders
import JunctionServer
import JunctionSession
import JunctionSystemd
import JunctionVault
import Logging
import Synchronization

/// Reports session events to the log, the metrics and the service manager.
final class SessionEventLog: SessionObserver {
    private let logger: Logger
    private let notifier: Notifier
    private let crashPoint: CrashPoint
    private let state = Mutex(State())

    private struct State {
        var metrics = Metrics()
        var facts: JunctionSession.Snapshot.Facts?
        var statusLine: String?
        /// The settings that wait for a restart.
        var pendingRestart: [String] = []
        var outage: Outage?
        /// A user has signed in, and the next snapshot has not arrived yet.
        var hasSignedIn = false
        /// The service manager knows that the daemon is ready, and gets status changes from now on.
        var isReady = false
    }

    init(logger: Logger, notifier: Notifier, crashPoint: CrashPoint) {
        self.logger = logger
        self.notifier = notifier
        self.crashPoint = crashPoint
    }

    var metrics: Metrics { state.withLock { $0.metrics } }

    func requestEnded(_ reading: RequestMeter.Reading) {
        state.withLock { $0.metrics.requestEnded(reading) }
    }

    // MARK: SessionObserver

    func changed(_ snapshot: JunctionSession.Snapshot) {
        let (previous, hasSignedIn) = state.withLock { state in
            defer { (state.facts, state.hasSignedIn) = (snapshot.facts, false) }
            return (state.facts, state.hasSignedIn)
        }
        log(snapshot, after: previous)
        if hasSignedIn { warnOfMissingHandler(snapshot.facts) }
        tellServiceManager(snapshot.facts)
    }

    func happened(_ event: SessionEvent) {
        state.withLock { state in
            state.metrics.happened(event)
            if case .writeFailed = event { state.metrics.writeEnded(durably: false) }
        }
        switch event {
        case .writeFailed(let reason):
            logger.error(
                "The session could not be written and is kept in memory; it is tried again",
                metadata: .of(.notDurable, [.error: "\(reason)"])
            )
        case .exchangeEnded(.succeeded, _):
            // The failed renewals were those of the session before.
            state.withLock { ($0.hasSignedIn, $0.outage) = (true, nil) }
            logger.info("A sign-in succeeded")
        case .exchangeEnded(let outcome, let failure):
            signInFailed(outcome, failure)
        case .authorizationPageFailed(let failure):
            signInFailed(.unavailable, failure)
        case .renewalEnded(.succeeded, _, _):
            logger.info("A renewal succeeded")
            outageEnded()
        case .renewalEnded(let outcome, let failure, let nextAttempt):
            renewalFailed(outcome, failure, nextAttempt)
        case .registrationForgotten:
            logger.warning("The provider has forgotten this installation; it has to be registered again")
        case .revocationGivenUp(let reason):
            logger.warning(
                "The provider has not confirmed the revocation of an ended session or an unused grant",
                metadata: .of(nil, [.error: "\(reason)"])
            )
        case .signedOut:
            state.withLock { $0.outage = nil }
            logger.info("Signed out", metadata: .of(.signedOut))
        }
    }

    /// Warns that the session ends with its first token, if only a session handler can renew it and none is registered.
    /// At a start of the daemon an app may be about to register, so the warning comes only after a sign-in.
    private func warnOfMissingHandler(_ facts: JunctionSession.Snapshot.Facts) {
        guard facts.renewal.needsHandler, let end = facts.accessToken?.expiresAt, end < .never else { return }
        logger.warning(
            "No session handler is registered: unless one registers, the session ends with its access token",
            metadata: .of(nil, [.ends: "\(Timestamp(end))"])
        )
    }

    /// Returns the outcome, the error with its cause, and the host of the request.
    private func values(
        _ outcome: SessionEvent.Outcome,
        _ failure: Unavailability?
    ) -> [LogKey: Logger.MetadataValue] {
        var values: [LogKey: Logger.MetadataValue] = [.outcome: "\(outcome.rawValue)"]
        if let failure {
            values[.error] = "\(failure.message)"
            values[.cause] = "\(failure.cause.rawValue)"
            if let host = failure.host { values[.host] = "\(host)" }
        }
        return values
    }

    private func signInFailed(_ outcome: SessionEvent.Outcome, _ failure: Unavailability?) {
        var values = values(outcome, failure)
        // The old value of such a setting may be the cause.
        let pending = state.withLock { $0.pendingRestart }
        if !pending.isEmpty { values[.settings] = "\(pending.joined(separator: ", "))" }
        logger.warning("A sign-in failed", metadata: .of(.signInFailed, values))
    }

    /// Logs the failure with its cause and the time of the next attempt.
    private func renewalFailed(_ outcome: SessionEvent.Outcome, _ failure: Unavailability?, _ nextAttempt: WallTime?) {
        var values = values(outcome, failure)
        if let nextAttempt { values[.nextAttempt] = "\(Timestamp(nextAttempt))" }
        logger.warning("A renewal failed", metadata: .of(.renewalFailed, values))
        state.withLock { state in
            switch outcome {
            // The session is over, and the daemon makes no more attempts on its own.
            case .terminated, .reauthenticationRequired: state.outage = nil
            case .succeeded, .refused, .unavailable:
                if state.outage == nil { state.outage = Outage(beginning: .now) } else { state.outage?.goesOn() }
            }
        }
    }

    /// Logs one line when renewals succeed again.
    private func outageEnded() {
        let outage = state.withLock { state in
            defer { state.outage = nil }
            return state.outage
        }
        guard let outage else { return }
        logger.notice(
            "The session is renewed again, after renewals had failed",
            metadata: .of(
                .renewalsResumed,
                [.count: "\(outage.failures)", .lasted: "\(outage.seconds(until: .now)) s"]
            )
        )
    }

    func reached(_ step: RotationStep) {
        crashPoint.reached(step)
    }

    /// Handles a completed step of writing a record. Called on the vault's thread.
    func reached(_ step: VaultStep) {
        crashPoint.reached(step)
        if step == .directorySynced { state.withLock { $0.metrics.writeEnded(durably: true) } }
    }

    // MARK: Where it goes

    /// Tells the service manager in one message that the daemon is ready, and the state of the session.
    func tellReady(_ facts: JunctionSession.Snapshot.Facts) {
        let line = StatusLine.text(for: facts)
        state.withLock { state in
            state.isReady = true
            state.statusLine = line
        }
        notifier.tell(.ready, .status(line))
    }

    /// Tells the service manager the state of the session after a reload, and which settings wait for a restart.
    func reloaded(_ facts: JunctionSession.Snapshot.Facts, pendingRestart: [String]) {
        let line = StatusLine.text(for: facts, pendingRestart: pendingRestart)
        state.withLock { ($0.pendingRestart, $0.statusLine) = (pendingRestart, line) }
        notifier.tell(.status(line))
    }

    /// Sends the status line to the service manager, if it has changed.
    private func tellServiceManager(_ facts: JunctionSession.Snapshot.Facts) {
        let new: String? = state.withLock { state in
            let line = StatusLine.text(for: facts, pendingRestart: state.pendingRestart)
            defer { state.statusLine = line }
            return state.isReady && state.statusLine != line ? line : nil
        }
        if let new { notifier.tell(.status(new)) }
    }

    private func log(_ snapshot: JunctionSession.Snapshot, after previous: JunctionSession.Snapshot.Facts?) {
        let facts = snapshot.facts
        var metadata: [LogKey: Logger.MetadataValue] = [
            .state: "\(facts.state.rawValue)", .revision: "\(snapshot.revision)",
            .phase: "\(facts.renewal.phase.rawValue)", .storage: "\(facts.storage.status.rawValue)",
            .durable: "\(facts.storage.durable)",
        ]
        if let previous { metadata[.previousState] = "\(previous.state.rawValue)" }
        if let userId = facts.userId { metadata[.userId] = "\(userId)" }
        if let generation = facts.accessToken?.generation { metadata[.generation] = "\(generation)" }
        if let error = facts.renewal.lastError { metadata[.error] = "\(error)" }
        if let termination = facts.termination { metadata[.code] = "\(termination.code)" }

        if previous?.storage.durable == false, facts.storage.durable {
            logger.notice("The session is on the disk again", metadata: .of(.durableAgain))
        }
        if previous?.state != facts.state {
            logger.notice("The session changed its state", metadata: .of(.stateChanged, metadata))
        } else {
            logger.debug("The session changed", metadata: .of(nil, metadata))
        }
    }
}
