import JunctionNetworkHelper
import JunctionSecret
import JunctionSession
import NIOCore
import NIOPosix

/// The daemon's link to one of its network helpers. It gets a helper when there is a request, and closes the connection
/// after an idle time. All calls must be on the event loop.
///
/// If a helper dies, only its current transfers fail. The next request gets a new helper.
final class HelperLink {
    private enum State {
        case disconnected
        case connected(HelperConnection)
        case closed
    }

    /// If a timer fires this much too late, the event loop was blocked.
    private static let stall = TimeAmount.seconds(1)
    /// A blocked event loop has read everything that was waiting after this time.
    private static let readTime = TimeAmount.milliseconds(50)

    private let eventLoop: any EventLoop
    private let place: HelperEndpoint
    private let network: NetworkSettingsSource
    private let userAgent: String
    private let idle: TimeAmount
    private let grace: TimeAmount
    private let whenIdle: @Sendable () -> Void
    private var state = State.disconnected
    private var transfers: [UInt32: OutgoingTransfer] = [:]
    private var idleClose: Scheduled<Void>?

    init(
        _ eventLoop: any EventLoop,
        _ place: HelperEndpoint,
        _ network: NetworkSettingsSource,
        userAgent: String,
        idle: TimeAmount,
        grace: TimeAmount,
        whenIdle: @escaping @Sendable () -> Void
    ) {
        (self.eventLoop, self.place, self.network, self.userAgent) = (eventLoop, place, network, userAgent)
        (self.idle, self.grace, self.whenIdle) = (idle, grace, whenIdle)
    }

    // MARK: Requests

    func begin(_ transfer: OutgoingTransfer) {
        let helper: HelperConnection
        do throws(LocalFailure) {
            guard transfers.count < Flow.mostTransfers,
                // Transfer ids wrap at 2³².
                transfers[transfer.number] == nil
            else { throw .tooManyUnderWay }
            helper = try connection()
        } catch {
            transfer.receiver.ended(.failure(Unavailability(error, of: transfer)), sinceLeft: nil)
            return
        }
        idleClose?.cancel()
        idleClose = nil
        // Registered before anything is sent: a send may reveal that the helper has died, and the transfer must fail
        // with it then.
        transfers[transfer.number] = transfer
        startResponseTimer(over: transfer)
        if let settings = network.changes(for: helper), !helper.send(.settings(settings), about: 0) {
            // The settings do not fit. The request must not be sent with other settings than the configured ones.
            return end(transfer, TransferFailure(.proxyUnusable, requestLeft: false))
        }
        guard helper.send(.open(transfer.request(userAgent: userAgent)), about: transfer.number) else {
            return end(transfer, .requestTooLong)
        }
        let uploading = NIOLoopBound((self, transfer), eventLoop: eventLoop)
        transfer.upload?.whenMore { uploading.value.0.sendMore(of: uploading.value.1) }
        sendMore(of: transfer)
    }

    /// Ends a transfer that the caller no longer needs.
    func cancel(_ number: UInt32) {
        guard let transfer = transfers[number] else { return }
        // The helper may already have begun to send the request.
        transfer.requestLeft = true
        end(transfer, .cancelled)
        if case .connected(let helper) = state { helper.send(.cancel, about: number) }
    }

    /// Grants this many more bytes of an answer.
    func grant(_ count: Int, of number: UInt32) {
        guard let transfer = transfers[number], case .connected(let helper) = state else { return }
        transfer.grant(count)
        transfer.movedAt = .now()
        helper.send(.credit(UInt32(clamping: count)), about: number)
    }

    func close() {
        let before = state
        state = .closed
        idleClose?.cancel()
        for transfer in transfers.values {
            transfer.requestLeft = true
            end(transfer, .cancelled)
        }
        if case .connected(let helper) = before { helper.close() }
    }

    // MARK: Messages of the helper

    /// - Parameter message: the message, or the reason why it cannot be decoded.
    func received(
        _ message: Result<HelperMessage, FormatFault>,
        about number: UInt32,
        from helper: HelperConnection
    ) {
        guard isCurrent(helper) else { return }
        if case .success(.hello(let version)) = message { return receivedHello(from: helper, version) }
        guard helper.hasSentHello else { return dropUntrusted(helper, .unintelligible) }
        guard let transfer = transfers[number] else {
            if !helper.mayCrossEnd() { dropUntrusted(helper, .unintelligible) }
            return
        }
        guard case .success(let message) = message, transfer.accepts(message) else {
            return reject(transfer, of: helper)
        }
        switch message {
        case .hello: break
        case .credit: sendMore(of: transfer)
        // After `leaving` a new response timeout applies.
        case .leaving: startResponseTimer(over: transfer)
        case .head(let head): transfer.receiver.head(head)
        case .body(let part): transfer.receiver.part(part)
        case .end: end(transfer, .success(()))
        case .failed(let failure): end(transfer, failure)
        }
    }

    /// Handles the end of the connection, after all received messages.
    func ended(_ helper: HelperConnection, _ ending: HelperConnection.Ending) {
        switch ending {
        case .gone: drop(helper, .died)
        case .unintelligible: dropUntrusted(helper, .unintelligible)
        }
    }

    // MARK: Private

    private func connection() throws(LocalFailure) -> HelperConnection {
        switch state {
        case .closed: throw .shutDown
        case .connected(let helper): return helper
        case .disconnected:
            let found: (socket: Int32, process: HelperProcess?)
            do throws(HelperUnreachable) {
                found = try place.connect()
            } catch {
                throw .unreachable(error)
            }
            let helper = HelperConnection(on: eventLoop, for: self)
            state = .connected(helper)
            helper.open(found.socket, of: found.process)
            helper.send(.hello(version: DaemonMessage.version), about: 0)
            guard isCurrent(helper) else { throw .died }
            return helper
        }
    }

    private func receivedHello(from helper: HelperConnection, _ version: UInt16) {
        guard !helper.hasSentHello else { return dropUntrusted(helper, .unintelligible) }
        // A helper of another version rejects our greeting and sends no request.
        guard version == DaemonMessage.version else { return drop(helper, .ofAnotherVersion) }
        helper.hasSentHello = true
    }

    private func isCurrent(_ helper: HelperConnection) -> Bool {
        if case .connected(let current) = state { return current === helper }
        return false
    }

    private func sendMore(of transfer: OutgoingTransfer) {
        guard case .connected(let helper) = state, !transfer.hasSentEnd else { return }
        // The source of a streamed body may fail before the end.
        guard transfer.upload?.breach == nil else { return cancel(transfer.number) }
        if transfer.upload != nil { transfer.movedAt = .now() }
        while let part = transfer.nextPart() { helper.send(.body(part), about: transfer.number) }
        guard transfer.hasSentAll else { return }
        transfer.hasSentEnd = true
        helper.send(.end, about: transfer.number)
    }

    private func end(_ transfer: OutgoingTransfer, _ outcome: Result<Void, Unavailability>) {
        guard transfers[transfer.number] === transfer else { return }
        transfers[transfer.number] = nil
        transfer.responseTimer?.cancel()
        transfer.upload?.abandon()
        scheduleIdleClose()
        transfer.receiver.ended(outcome, sinceLeft: transfer.sinceLeft)
    }

    private func end(_ transfer: OutgoingTransfer, _ failure: TransferFailure) {
        end(transfer, .failure(Unavailability(failure, of: transfer)))
    }

    private func end(_ transfer: OutgoingTransfer, _ failure: LocalFailure) {
        end(transfer, .failure(Unavailability(failure, of: transfer)))
    }

    /// Drops the helper and fails its transfers. The next request gets a new helper.
    private func drop(_ helper: HelperConnection, _ failure: LocalFailure) {
        guard isCurrent(helper) else { return }
        state = .disconnected
        helper.close(after: failure == .ofAnotherVersion ? grace : nil)
        for transfer in transfers.values { end(transfer, failure) }
    }

    /// Drops a helper that still runs or that cannot be trusted. Each of its requests counts as sent: the helper may
    /// have sent it, or may send it after it resumes and before it notices the closed connection.
    private func dropUntrusted(_ helper: HelperConnection, _ failure: LocalFailure) {
        guard isCurrent(helper) else { return }
        for transfer in transfers.values { transfer.requestLeft = true }
        drop(helper, failure)
    }

    /// Ends one transfer whose message was invalid. The start of the next message is known, so the other transfers
    /// continue. The request counts as sent.
    private func reject(_ transfer: OutgoingTransfer, of helper: HelperConnection) {
        transfer.requestLeft = true
        helper.send(.cancel, about: transfer.number)
        end(transfer, .malformed)
    }

    /// Starts the response timeout of a transfer. The helper enforces every limit itself. A stopped helper
    /// (SIGSTOP) does not, so the daemon gives it up `grace` after the limit. That leaves time for a late refresh retry
    /// within the provider's reuse grace. A helper that keeps sending is given up when the whole limit has passed.
    private func startResponseTimer(over transfer: OutgoingTransfer, wasLate: Bool = false) {
        let watched = NIOLoopBound((self, transfer), eventLoop: eventLoop)
        let end = transfer.responseDeadline + grace
        transfer.responseTimer?.cancel()
        transfer.responseTimer = eventLoop.scheduleTask(deadline: wasLate ? .now() + Self.readTime : end) {
            let (link, transfer) = watched.value
            guard link.transfers[transfer.number] === transfer, case .connected(let helper) = link.state else { return }
            if transfer.waitsForUs { transfer.movedAt = .now() }
            guard transfer.responseDeadline + link.grace <= .now() else {
                return link.startResponseTimer(over: transfer)
            }
            // The event loop was blocked, so the messages of the helper have not been read yet.
            if !wasLate, end + Self.stall <= .now() { return link.startResponseTimer(over: transfer, wasLate: true) }
            link.dropUntrusted(helper, transfer.isSilent ? .silent : .late)
        }
    }

    private func scheduleIdleClose() {
        guard transfers.isEmpty, case .connected(let helper) = state, idleClose == nil else { return }
        let leaving = NIOLoopBound((self, helper), eventLoop: eventLoop)
        idleClose = eventLoop.scheduleTask(in: idle) {
            let (link, helper) = leaving.value
            link.idleClose = nil
            guard link.transfers.isEmpty, link.isCurrent(helper) else { return }
            link.state = .disconnected
            helper.close()
            // Runs after the connection has freed its memory.
            link.eventLoop.execute(link.whenIdle)
        }
    }
}
