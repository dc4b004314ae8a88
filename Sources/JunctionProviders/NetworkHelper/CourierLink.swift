import JunctionCourier
import JunctionSecret
import JunctionSession
import NIOCore
import NIOPosix

/// The daemon's end of the way out by one of its network helpers: gets a process when there is something to carry, and lets it go
/// when there has been nothing for a while. Lives on the event loop.
///
/// A helper that dies takes nothing with it but what it was carrying: the next request gets another one.
final class CourierLink {
    private enum State {
        case without
        case having(CourierConnection)
        case closed
    }

    /// A loop that comes so late to what was due has been held up…
    private static let stall = TimeAmount.seconds(1)
    /// …and has looked at everything that waits for it within this.
    private static let aTurn = TimeAmount.milliseconds(50)

    private let eventLoop: any EventLoop
    private let place: CourierPlace
    private let network: NetworkUse
    private let userAgent: String
    private let idle: TimeAmount
    private let grace: TimeAmount
    private let whenIdle: @Sendable () -> Void
    private var state = State.without
    private var transfers: [UInt32: OutgoingTransfer] = [:]
    private var parting: Scheduled<Void>?

    init(
        _ eventLoop: any EventLoop,
        _ place: CourierPlace,
        _ network: NetworkUse,
        userAgent: String,
        idle: TimeAmount,
        grace: TimeAmount,
        whenIdle: @escaping @Sendable () -> Void
    ) {
        (self.eventLoop, self.place, self.network, self.userAgent) = (eventLoop, place, network, userAgent)
        (self.idle, self.grace, self.whenIdle) = (idle, grace, whenIdle)
    }

    // MARK: For whoever sends

    func begin(_ transfer: OutgoingTransfer) {
        let courier: CourierConnection
        do throws(LocalFailure) {
            guard transfers.count < Flow.mostTransfers,
                // Numbers begin again after four milliards.
                transfers[transfer.number] == nil
            else { throw .tooManyUnderWay }
            courier = try present()
        } catch {
            transfer.receiver.ended(.failure(Unavailability(error, of: transfer)), sinceLeft: nil)
            return
        }
        parting?.cancel()
        parting = nil
        // Before anything is said: that may be how the courier turns out to have gone, and then it ends, too.
        transfers[transfer.number] = transfer
        keepVigil(over: transfer)
        if let settings = network.news(for: courier), !courier.tell(.settings(settings), about: 0) {
            // Nothing goes out in another way than was asked for.
            return end(transfer, TransferFailure(.proxyUnusable, requestLeft: false))
        }
        guard courier.tell(.open(transfer.request(userAgent: userAgent)), about: transfer.number) else {
            return end(transfer, .requestTooLong)
        }
        let uploading = NIOLoopBound((self, transfer), eventLoop: eventLoop)
        transfer.upload?.whenMore { uploading.value.0.sendMore(of: uploading.value.1) }
        sendMore(of: transfer)
    }

    /// Nobody waits for it any more.
    func cancel(_ number: UInt32) {
        guard let transfer = transfers[number] else { return }
        // The courier may have begun to send it a moment ago.
        transfer.requestLeft = true
        end(transfer, .cancelled)
        if case .having(let courier) = state { courier.tell(.cancel, about: number) }
    }

    /// There is space for so many more bytes of an answer.
    func grant(_ count: Int, of number: UInt32) {
        guard let transfer = transfers[number], case .having(let courier) = state else { return }
        transfer.makeRoom(count)
        transfer.movedAt = .now()
        courier.tell(.credit(UInt32(clamping: count)), about: number)
    }

    func close() {
        let before = state
        state = .closed
        parting?.cancel()
        for transfer in transfers.values {
            transfer.requestLeft = true
            end(transfer, .cancelled)
        }
        if case .having(let courier) = before { courier.close() }
    }

    // MARK: For the courier

    /// - Parameter message: what was said, or why that cannot be read.
    func heard(
        _ message: Result<CourierMessage, FormatFault>,
        about number: UInt32,
        from courier: CourierConnection
    ) {
        guard isPresent(courier) else { return }
        if case .success(.hello(let version)) = message { return greeted(by: courier, version) }
        guard courier.isGreeted else { return giveUp(courier, .unintelligible) }
        // It may have crossed the end of its transfer.
        guard let transfer = transfers[number] else { return }
        guard case .success(let message) = message, transfer.expects(message) else {
            return breach(of: transfer, by: courier)
        }
        switch message {
        case .hello: break
        case .credit: sendMore(of: transfer)
        // What has been done until here is not waited for again.
        case .leaving: keepVigil(over: transfer)
        case .head(let head): transfer.receiver.head(head)
        case .body(let part): transfer.receiver.part(part)
        case .end: end(transfer, .success(()))
        case .failed(let failure): end(transfer, failure)
        }
    }

    /// The courier says nothing more; what it said before has been heard.
    func ended(_ courier: CourierConnection, _ ending: CourierConnection.Ending) {
        switch ending {
        case .gone: lose(courier, .died)
        case .unintelligible: giveUp(courier, .unintelligible)
        }
    }

    // MARK: Inside

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
        // One of another version has read our greeting before anything else, and carries nothing.
        guard version == DaemonMessage.version else { return lose(courier, .ofAnotherVersion) }
        courier.isGreeted = true
    }

    private func isPresent(_ courier: CourierConnection) -> Bool {
        if case .having(let present) = state { return present === courier }
        return false
    }

    private func sendMore(of transfer: OutgoingTransfer) {
        guard case .having(let courier) = state, !transfer.hasSaidEnd else { return }
        // Whoever sends while it comes may be unable to go on.
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
        transfer.vigil?.cancel()
        transfer.upload?.abandon()
        partLater()
        transfer.receiver.ended(outcome, sinceLeft: transfer.sinceLeft)
    }

    private func end(_ transfer: OutgoingTransfer, _ failure: TransferFailure) {
        end(transfer, .failure(Unavailability(failure, of: transfer)))
    }

    private func end(_ transfer: OutgoingTransfer, _ failure: LocalFailure) {
        end(transfer, .failure(Unavailability(failure, of: transfer)))
    }

    /// One courier less, and whatever it carried; the next request gets another.
    private func lose(_ courier: CourierConnection, _ failure: LocalFailure) {
        guard isPresent(courier) else { return }
        state = .without
        courier.close(hearingItOutFor: failure == .ofAnotherVersion ? grace : nil)
        for transfer in transfers.values { end(transfer, failure) }
    }

    /// The same for one that is still there, or that is not to be believed: what it is doing, or will do when it is woken
    /// and before it sees that we have gone, nobody knows.
    private func giveUp(_ courier: CourierConnection, _ failure: LocalFailure) {
        guard isPresent(courier) else { return }
        for transfer in transfers.values { transfer.requestLeft = true }
        lose(courier, failure)
    }

    /// Ends one transfer of which the network helper said what cannot be: where its next message begins is known, so the
    /// others go on. What the helper has done about this one is not known.
    private func breach(of transfer: OutgoingTransfer, by courier: CourierConnection) {
        transfer.requestLeft = true
        courier.tell(.cancel, about: transfer.number)
        end(transfer, .malformed)
    }

    /// A courier keeps every limit itself. One that is stopped keeps none, and is given up soon after: so soon, once the
    /// request has left, that its replay still arrives inside the grace that servers give. One that always has something to say
    /// is given up just so when the whole has taken too long.
    private func keepVigil(over transfer: OutgoingTransfer, wasLate: Bool = false) {
        let watched = NIOLoopBound((self, transfer), eventLoop: eventLoop)
        let end = transfer.nextWord + grace
        transfer.vigil?.cancel()
        transfer.vigil = eventLoop.scheduleTask(deadline: wasLate ? .now() + Self.aTurn : end) {
            let (link, transfer) = watched.value
            guard link.transfers[transfer.number] === transfer, case .having(let courier) = link.state else { return }
            if transfer.waitsForUs { transfer.movedAt = .now() }
            guard transfer.nextWord + link.grace <= .now() else { return link.keepVigil(over: transfer) }
            // It is we who are late: what the courier has said meanwhile is not read yet.
            if !wasLate, end + Self.stall <= .now() { return link.keepVigil(over: transfer, wasLate: true) }
            link.giveUp(courier, transfer.hasFallenSilent ? .silent : .late)
        }
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
            // Once the connection has given its memory back.
            link.eventLoop.execute(link.whenIdle)
        }
    }
}
