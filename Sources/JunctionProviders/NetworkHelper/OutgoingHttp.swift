import CLinux
package import JunctionCourier
import JunctionSession
package import NIOCore
import Synchronization

/// The one way out to the vendors: what is to be sent goes to a network helper, a process of its own, for this one has no
/// network. One request, one answer: no redirect, no retry, no cookie, bounded in size and time.
///
/// There are two helpers (`NetworkHelper`), each made when the first request needs it. They live on the given event loop.
package final class OutgoingHttp: Sendable {
    /// How long the steps of a request may take.
    package struct Limits: Equatable, Sendable {
        /// Until the host's name is resolved.
        package var resolve: Duration
        /// From there until the connection stands, TLS and proxy included.
        package var connect: Duration
        /// From there until the answer is complete, or, where much is brought, until more of it comes.
        package var request: Duration
        /// How long the courier stays when there is nothing to carry.
        package var idle: Duration
        /// How much longer than its limits a courier may be silent: it keeps them itself, unless it was stopped.
        package var grace: Duration

        package init(
            resolve: Duration = .seconds(10),
            connect: Duration = .seconds(10),
            request: Duration = .seconds(10),
            idle: Duration = .seconds(30),
            grace: Duration = .seconds(5)
        ) {
            self.resolve = resolve
            self.connect = connect
            self.request = request
            self.idle = idle
            self.grace = grace
        }
    }

    let eventLoop: any EventLoop
    private let limits: Limits
    private let links: NIOLoopBoundBox<[NetworkHelper: CourierLink]>
    private let makeLink: @Sendable () -> CourierLink
    private let lastNumber = Atomic<UInt32>(0)
    private let meter: RequestMeter?

    /// Prepares a way out that is not used yet.
    ///
    /// - Parameters:
    ///   - courier: where to get one.
    ///   - network: how it is to use the network.
    ///   - userAgent: `junctiond/` and the version.
    ///   - meter: is told of every request.
    ///   - whenIdle: called on the event loop when a network helper was let go, after there was nothing to carry for a while.
    package init(
        eventLoop: any EventLoop,
        courier: CourierPlace,
        network: NetworkUse = NetworkUse(),
        userAgent: String,
        limits: Limits = Limits(),
        meter: RequestMeter? = nil,
        whenIdle: @escaping @Sendable () -> Void = {}
    ) {
        self.eventLoop = eventLoop
        self.limits = limits
        self.meter = meter
        links = .makeBoxSendingValue([:], eventLoop: eventLoop)
        makeLink = {
            CourierLink(
                eventLoop,
                courier,
                network,
                userAgent: userAgent,
                idle: TimeAmount(limits.idle),
                grace: TimeAmount(limits.grace),
                whenIdle: whenIdle
            )
        }
    }

    /// Ends what is under way and lets the network helpers go. It must have been called before the last reference goes,
    /// and nothing can be sent after it.
    package func shutdown() async {
        await withCheckedContinuation { continuation in
            eventLoop.execute { [links, makeLink] in
                // Also one that is not there yet: nothing can be sent by it any more.
                for helper in NetworkHelper.allCases {
                    let link = links.value[helper] ?? makeLink()
                    links.value[helper] = link
                    link.close()
                }
                continuation.resume()
            }
        }
    }

    /// Sends one request once and waits for the whole answer.
    ///
    /// A cancelled task gives the request up at once.
    func answer(to call: HttpCall) async throws(Unavailability) -> HttpAnswer {
        try await answer(to: .session(call))
    }

    /// Sends one request of an app's once and waits for the whole answer.
    ///
    /// A cancelled task gives the request up at once.
    func answer(to call: ApiCall) async throws(Unavailability) -> HttpAnswer {
        try await answer(to: .api(call))
    }

    private func answer(to errand: Errand) async throws(Unavailability) -> HttpAnswer {
        try await outcome(of: errand) { number, then in collect(errand, number, then: then) }
    }

    /// Sends one request of an app's once and waits for the head of the answer, whose body comes by and by. Whoever gets it takes all of it,
    /// or abandons it.
    ///
    /// A cancelled task gives the request up at once.
    func streamedAnswer(to call: ApiCall) async throws(Unavailability) -> (head: HttpAnswer, body: BodyStream) {
        let measured = meter?.begin()
        let errand = Errand.api(call)
        return try await outcome(of: errand) { number, then in
            begin(errand, number) { [eventLoop] link in
                AnswerStreamer(
                    place: call.http.origin.place,
                    eventLoop: eventLoop,
                    granting: { [unowned link] in link.grant($0, of: number) },
                    cancelling: { [unowned link] in link.cancel(number) },
                    then: { outcome in
                        measured?(try? outcome.get().head)
                        then(outcome)
                    }
                )
            }
        }
    }

    private func outcome<Answer: Sendable>(
        of errand: Errand,
        _ begin: (UInt32, @escaping @Sendable (Result<Answer, Unavailability>) -> Void) -> Void
    ) async throws(Unavailability) -> Answer {
        let number = nextNumber()
        let isCancelled = Atomic(false)
        let outcome = await withTaskCancellationHandler {
            // Not a future's `get()`: that one leaves the caller's executor for the default one where none is preferred.
            await withCheckedContinuation { continuation in
                begin(number) { continuation.resume(returning: $0) }
                // Whoever was cancelled before there was anything to cancel.
                if isCancelled.load(ordering: .sequentiallyConsistent) { cancel(number, errand) }
            }
        } onCancel: {
            isCancelled.store(true, ordering: .sequentiallyConsistent)
            cancel(number, errand)
        }
        return try outcome.get()
    }

    /// Sends one request once and waits for nothing.
    ///
    /// - Parameter then: called on the event loop with the answer, if there is one.
    func send(_ call: HttpCall, then: @escaping @Sendable (HttpAnswer?) -> Void = { _ in }) {
        collect(.session(call), nextNumber()) { then(try? $0.get()) }
    }

    /// Calls this once on the event loop, unless that ends before; nobody waits for it.
    func schedule(in delay: Duration, _ action: @escaping @Sendable () -> Void) {
        eventLoop.scheduleTask(in: TimeAmount(delay), action)
    }

    private func collect(
        _ errand: Errand,
        _ number: UInt32,
        then completion: @escaping @Sendable (Result<HttpAnswer, Unavailability>) -> Void
    ) {
        let measured = meter?.begin()
        begin(errand, number) { link in
            AnswerCollector(
                place: errand.call.origin.place,
                granting: { [unowned link] in link.grant($0, of: number) },
                then: { outcome in
                    measured?(try? outcome.get())
                    completion(outcome)
                }
            )
        }
    }

    private func begin(
        _ errand: Errand,
        _ number: UInt32,
        for receiver: @escaping @Sendable (CourierLink) -> any AnswerReceiver
    ) {
        let limits = transferLimits(for: errand)
        withLink(for: errand) { $0.begin(OutgoingTransfer(number, errand, limits, receiver($0), at: .now())) }
    }

    private func cancel(_ number: UInt32, _ errand: Errand) {
        withLink(for: errand) { $0.cancel(number) }
    }

    private func nextNumber() -> UInt32 { lastNumber.wrappingAdd(1, ordering: .relaxed).newValue }

    private func withLink(for errand: Errand, _ body: @escaping @Sendable (CourierLink) -> Void) {
        eventLoop.execute { [links, makeLink, helper = errand.helper] in
            let present = links.value[helper] ?? makeLink()
            links.value[helper] = present
            body(present)
        }
    }

    private func transferLimits(for errand: Errand) -> TransferLimits {
        let call = errand.call
        let request = limits.request.wholeMilliseconds
        var whole = min(call.patience?.wholeMilliseconds ?? request, request)
        let silence = whole
        if case .api = errand, !errand.isStreamed {
            whole += Int64((call.longestAnswer + (call.body?.count ?? 0)) / HttpCall.slowestLine) * 1_000
        }
        // Half of it for each, so that a name server that takes long leaves time for the rest.
        let step = call.sendDeadline.map { $0.wholeMilliseconds / 2 } ?? .max
        return TransferLimits(
            resolve: UInt32(clamping: min(limits.resolve.wholeMilliseconds, step)),
            connect: UInt32(clamping: min(limits.connect.wholeMilliseconds, step)),
            silence: UInt32(clamping: silence),
            whole: errand.isStreamed ? 0 : UInt32(clamping: whole),
            longestAnswer: errand.isStreamed ? 0 : UInt64(call.longestAnswer),
            sendDeadline: call.sendDeadline.map { UInt64(clamping: clinux_boot_milliseconds() + $0.wholeMilliseconds) }
                ?? 0
        )
    }
}

extension TimeAmount {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
