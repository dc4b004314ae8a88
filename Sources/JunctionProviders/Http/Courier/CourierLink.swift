import JunctionCourier
import JunctionSecret
import NIOCore
import NIOPosix

/// The keeper's end of the way out: gets a courier when there is something to carry, and lets it go when there has been
/// nothing for a while. Lives on the event loop.
///
/// A courier that dies takes nothing with it but what it was carrying: the next request gets another one.
final class CourierLink {
    private enum State {
        case without
        case having(CourierConnection)
        case closed
    }

    /// What apps ask for leaves room for what the session needs.
    private static let mostBulk = Flow.mostTransfers * 3 / 4

    private let eventLoop: any EventLoop
    private let place: CourierPlace
    private let network: NetworkUse
    private let userAgent: String
    private let idle: TimeAmount
    private var state = State.without
    private var transfers: [UInt32: OutgoingTransfer] = [:]
    private var parting: Scheduled<Void>?

    init(
        _ eventLoop: any EventLoop,
        _ place: CourierPlace,
        _ network: NetworkUse,
        userAgent: String,
        idle: TimeAmount
    ) {
        (self.eventLoop, self.place, self.network, self.userAgent) = (eventLoop, place, network, userAgent)
        self.idle = idle
    }

    // MARK: For whoever sends

    func begin(_ transfer: OutgoingTransfer) {
        let courier: CourierConnection
        do throws(HttpFailure.Cause) {
            guard transfers.count < (transfer.call.isBulk ? Self.mostBulk : Flow.mostTransfers) else {
                throw .tooManyUnderWay
            }
            courier = try present()
        } catch {
            transfer.receiver.ended(.failure(failure(error, of: transfer)))
            return
        }
        parting?.cancel()
        parting = nil
        if let settings = network.news(for: courier) { courier.tell(.settings(settings), about: 0) }
        guard courier.tell(.open(transfer.request(userAgent: userAgent)), about: transfer.number) else {
            transfer.receiver.ended(.failure(failure(.requestTooLong, of: transfer)))
            partLater()
            return
        }
        transfers[transfer.number] = transfer
        keepVigil(over: transfer)
        sendMore(of: transfer)
    }

    /// Nobody waits for it any more.
    func cancel(_ number: UInt32) {
        guard let transfer = transfers[number] else { return }
        if case .having(let courier) = state { courier.tell(.cancel, about: number) }
        // The courier may have begun to send it a moment ago.
        transfer.requestLeft = true
        end(transfer, .failure(failure(.cancelled, of: transfer)))
    }

    /// There is room for so many more bytes of an answer.
    func grant(_ count: Int, of number: UInt32) {
        guard transfers[number] != nil, case .having(let courier) = state else { return }
        courier.tell(.credit(UInt32(clamping: count)), about: number)
    }

    func close() {
        let before = state
        state = .closed
        parting?.cancel()
        for transfer in transfers.values {
            transfer.requestLeft = true
            end(transfer, .failure(failure(.cancelled, of: transfer)))
        }
        if case .having(let courier) = before { courier.close() }
    }

    // MARK: For the courier

    func heard(_ message: CourierMessage, about number: UInt32, from courier: CourierConnection) {
        if case .hello(let version) = message {
            if version != KeeperMessage.version { lose(courier, .courier(.ofAnotherVersion)) }
            return
        }
        // It may have crossed the end of its transfer.
        guard let transfer = transfers[number], isPresent(courier) else { return }
        transfer.heard = .now()
        switch message {
        case .hello: break
        case .credit(let count):
            transfer.grant(Int(count))
            sendMore(of: transfer)
        case .leaving: transfer.requestLeft = true
        case .head(let head): transfer.receiver.head(head)
        case .body(let part): transfer.receiver.part(part)
        case .end: end(transfer, .success(()))
        case .failed(let failure):
            transfer.requestLeft = failure.requestLeft
            end(transfer, .failure(self.failure(HttpFailure.Cause(failure, transfer), of: transfer)))
        }
    }

    /// The courier has gone, whatever for; what it said before has been heard.
    func ended(_ courier: CourierConnection) {
        lose(courier, .courier(.died))
    }

    // MARK: Inside

    private func present() throws(HttpFailure.Cause) -> CourierConnection {
        switch state {
        case .closed: throw .shutDown
        case .having(let courier): return courier
        case .without:
            do throws(CourierUnreachable) {
                let courier = CourierConnection(try place.connect(), on: eventLoop, for: self)
                courier.tell(.hello(version: KeeperMessage.version), about: 0)
                state = .having(courier)
                return courier
            } catch {
                throw .courier(.unreachable(error))
            }
        }
    }

    private func isPresent(_ courier: CourierConnection) -> Bool {
        if case .having(let present) = state { return present === courier }
        return false
    }

    private func sendMore(of transfer: OutgoingTransfer) {
        guard case .having(let courier) = state, !transfer.hasSentAll else { return }
        while let part = transfer.nextPart() { courier.tell(.body(part), about: transfer.number) }
        if transfer.hasSentAll { courier.tell(.end, about: transfer.number) }
    }

    private func end(_ transfer: OutgoingTransfer, _ outcome: Result<Void, HttpFailure>) {
        transfers[transfer.number] = nil
        transfer.vigil?.cancel()
        partLater()
        transfer.receiver.ended(outcome)
    }

    /// One courier less, and whatever it carried; the next request gets another.
    private func lose(_ courier: CourierConnection, _ cause: HttpFailure.Cause) {
        guard isPresent(courier) else { return }
        state = .without
        courier.close()
        for transfer in transfers.values { end(transfer, .failure(failure(cause, of: transfer))) }
    }

    private func failure(_ cause: HttpFailure.Cause, of transfer: OutgoingTransfer) -> HttpFailure {
        HttpFailure(cause: cause, place: transfer.call.origin.place, requestLeft: transfer.requestLeft)
    }

    /// A courier keeps every limit itself. One that is stopped keeps none, and is given up soon after.
    private func keepVigil(over transfer: OutgoingTransfer) {
        let limits = transfer.limits
        let longest = TimeAmount.milliseconds(Int64(limits.resolve) + Int64(limits.connect) + Int64(limits.silence))
        let end = transfer.heard + longest + .seconds(5)
        let watched = NIOLoopBound((self, transfer), eventLoop: eventLoop)
        transfer.vigil = eventLoop.scheduleTask(deadline: end) {
            let (link, transfer) = watched.value
            guard link.transfers[transfer.number] === transfer else { return }
            guard transfer.heard + longest + .seconds(5) <= .now() else { return link.keepVigil(over: transfer) }
            link.giveUp(transfer)
        }
    }

    private func giveUp(_ transfer: OutgoingTransfer) {
        guard case .having(let courier) = state else { return }
        // It may go on when it is woken, before it sees that we have gone.
        for transfer in transfers.values { transfer.requestLeft = true }
        lose(courier, .courier(.silent))
    }

    private func partLater() {
        guard transfers.isEmpty, case .having(let courier) = state, parting == nil else { return }
        let leaving = NIOLoopBound((self, courier), eventLoop: eventLoop)
        parting = eventLoop.scheduleTask(in: idle) {
            let (link, courier) = leaving.value
            link.parting = nil
            guard link.transfers.isEmpty, link.isPresent(courier) else { return }
            link.state = .without
            courier.close()
        }
    }
}
