import JunctionCourier
import JunctionSecret
import JunctionSession
import NIOCore
import NIOPosix

/// The daemon's link to one of its network helpers. It gets a helper when there is a request, and closes the connection
/// after an idle time. All calls must be on the event loop.
///
/// If a helper dies, only its current transfers fail. The next request gets a new helper.
final class CourierLink {
    private enum State {
        case without
        case having(CourierConnection)
        case closed
    }

    /// If a timer fires this much too late, the event loop was blocked.
    private static let stall = TimeAmount.seconds(1)
    /// A blocked event loop has read everything that was waiting after this time.
    private static let aTurn = TimeAmount.milliseconds(50)

    private let eventLoop: any EventLoop
    private let place: HelperEndpoint
    private let network: NetworkUse
    private let userAgent: String
    private let idle: TimeAmount
    private let grace: TimeAmount
    private let whenIdle: @Sendable () -> Void
    private var state = State.without
    private var transfers: [UInt32: OutgoingTransfer] = [:]
    private var idleClose: Scheduled<Void>?

    init(
        _ eventLoop: any EventLoop,
        _ place: HelperEndpoint,
        _ network: NetworkUse,
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
        let courier: CourierConnection
        do throws(LocalFailure) {
            guard transfers.count < Flow.mostTransfers,
                // Transfer ids wrap at 2³².
                transfers[transfer.number] == nil
            else { throw .tooManyUnderWay }
            courier = try present()
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
        if let settings = network.news(for: courier), !courier.tell(.settings(settings), about: 0) {
            // The settings do not fit. The request must not be sent with other settings than the configured ones.
            return end(transfer, TransferFailure(.proxyUnusable, requestLeft: false))
        }
        guard courier.tell(.open(transfer.request(userAgent: userAgent)), about: transfer.number) else {
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
        if case .having(let courier) = state { courier.tell(.cancel, about: number) }
    }

    /// Grants this many more bytes of an answer.
    func grant(_ count: Int, of number: UInt32) {
        guard let transfer = transfers[number], case .having(let courier) = state else { return }
        transfer.makeRoom(count)
        transfer.movedAt = .now()
        courier.tell(.credit(UInt32(clamping: count)), about: number)
    }

    func close() {
        let before = state
        state = .closed
        idleClose?.cancel()
        for transfer in transfers.values {
            transfer.requestLeft = true
            end(transfer, .cancelled)
        }
        if case .having(let courier) = before { courier.close() }
    }

    // MARK: Messages of the helper

    /// - Parameter message: the message, or the reason why it cannot be decoded.
    func heard(
        _ message: Result<CourierMessage, FormatFault>,
        about number: UInt32,
        from courier: CourierConnection
    ) {
        guard isPresent(courier) else { return }
        if case .success(.hello(let version)) = message { return greeted(by: courier, version) }
        guard courier.isGreeted else { return giveUp(courier, .unintelligible) }
        // The message may have crossed the end of its transfer.
        guard let transfer = transfers[number] else { return }
        guard case .success(let message) = message, transfer.expects(message) else {
            return breach(of: transfer, by: courier)
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
    func ended(_ courier: CourierConnection, _ ending: CourierConnection.Ending) {
        switch ending {
        case .gone: lose(courier, .died)
        case .unintelligible: giveUp(courier, .unintelligible)
        }
    }

    // MARK: Private

    private func present() throws(LocalFailure) -> CourierConnection {
        switch state {
        case .closed: throw .shutDown
        case .having(let courier): return courier
        case .without:
            let found: (socket: Int32, process: CourierProcess?)
            do throws(CourierUnreachable) {
                found = try place.connect()
            } catch {
                throw .unreachable(error)
            }
            let courier = CourierConnection(on: eventLoop, for: self)
            state = .having(courier)
            courier.open(found.socket, of: found.process)
            courier.tell(.hello(version: DaemonMessage.version), about: 0)
            guard isPresent(courier) else { throw .died }
            return courier
        }
    }

    private func greeted(by courier: CourierConnection, _ version: UInt16) {
        guard !courier.isGreeted else { return giveUp(courier, .unintelligible) }
        // A helper of another version rejects our greeting and sends no request.
        guard version == DaemonMessage.version else { return lose(courier, .ofAnotherVersion) }
        courier.isGreeted = true
    }

    private func isPresent(_ courier: CourierConnection) -> Bool {
        if case .having(let present) = state { return present === courier }
        return false
    }

    private func sendMore(of transfer: OutgoingTransfer) {
        guard case .having(let courier) = state, !transfer.hasSaidEnd else { return }
        // The source of a streamed body may fail before the end.
        guard transfer.upload?.breach == nil else { return cancel(transfer.number) }
        if transfer.upload != nil { transfer.movedAt = .now() }
        while let part = transfer.nextPart() { courier.tell(.body(part), about: transfer.number) }
        guard transfer.hasSentAll else { return }
        transfer.hasSaidEnd = true
        courier.tell(.end, about: transfer.number)
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
    private func lose(_ courier: CourierConnection, _ failure: LocalFailure) {
        guard isPresent(courier) else { return }
        state = .without
        courier.close(hearingItOutFor: failure == .ofAnotherVersion ? grace : nil)
        for transfer in transfers.values { end(transfer, failure) }
    }

    /// Drops a helper that still runs or that cannot be trusted. Each of its requests counts as sent: the helper may
    /// have sent it, or may send it after it resumes and before it notices the closed connection.
    private func giveUp(_ courier: CourierConnection, _ failure: LocalFailure) {
        guard isPresent(courier) else { return }
        for transfer in transfers.values { transfer.requestLeft = true }
        lose(courier, failure)
    }

    /// Ends one transfer whose message was invalid. The start of the next message is known, so the other transfers
    /// continue. The request counts as sent.
    private func breach(of transfer: OutgoingTransfer, by courier: CourierConnection) {
        transfer.requestLeft = true
        courier.tell(.cancel, about: transfer.number)
        end(transfer, .malformed)
    }

    /// Starts the response timeout of a transfer. The helper enforces every limit itself, but a stopped helper does
    /// not, so the daemon gives it up `grace` later. After the request has left, this is early enough for a refresh
    /// retry within the provider's grace. A helper that keeps sending is given up when the whole limit has passed.
    private func startResponseTimer(over transfer: OutgoingTransfer, wasLate: Bool = false) {
        let watched = NIOLoopBound((self, transfer), eventLoop: eventLoop)
        let end = transfer.responseDeadline + grace
        transfer.responseTimer?.cancel()
        transfer.responseTimer = eventLoop.scheduleTask(deadline: wasLate ? .now() + Self.aTurn : end) {
            let (link, transfer) = watched.value
            guard link.transfers[transfer.number] === transfer, case .having(let courier) = link.state else { return }
            if transfer.waitsForUs { transfer.movedAt = .now() }
            guard transfer.responseDeadline + link.grace <= .now() else {
                return link.startResponseTimer(over: transfer)
            }
            // The event loop was blocked, so the messages of the helper have not been read yet.
            if !wasLate, end + Self.stall <= .now() { return link.startResponseTimer(over: transfer, wasLate: true) }
            link.giveUp(courier, transfer.hasFallenSilent ? .silent : .late)
        }
    }

    private func scheduleIdleClose() {
        guard transfers.isEmpty, case .having(let courier) = state, idleClose == nil else { return }
        let leaving = NIOLoopBound((self, courier), eventLoop: eventLoop)
        idleClose = eventLoop.scheduleTask(in: idle) {
            let (link, courier) = leaving.value
            link.idleClose = nil
            guard link.transfers.isEmpty, link.isPresent(courier) else { return }
            link.state = .without
            courier.close()
            // Runs after the connection has freed its memory.
            link.eventLoop.execute(link.whenIdle)
        }
    }
}
