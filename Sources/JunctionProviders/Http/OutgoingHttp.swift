import CLinux
package import JunctionCourier
import JunctionSession
package import NIOCore
import Synchronization

/// The one way out to the vendors: what is to be sent goes to a courier, a process of its own, for this one has no
/// network. One request, one answer: no redirect, no retry, no cookie, bounded in size and time.
///
/// It costs nothing until the first request and lives on the given event loop.
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

    private let eventLoop: any EventLoop
    private let limits: Limits
    private let link: NIOLoopBoundBox<CourierLink?>
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
    ///   - whenIdle: called on the event loop when the courier was let go, after there was nothing to carry for a while.
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
        link = .makeEmptyBox(eventLoop: eventLoop)
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

    /// Ends what is under way and lets the courier go. It must have been called before the last reference goes,
    /// and nothing can be sent after it.
    package func shutdown() async {
        await withCheckedContinuation { continuation in
            withLink { link in
                link.close()
                continuation.resume()
            }
        }
    }

    /// Sends one request once and waits for the whole answer.
    ///
    /// A cancelled task gives the request up at once.
    func answer(to call: HttpCall) async throws(HttpFailure) -> HttpAnswer {
        try await outcome { number, then in collect(call, number, then: then) }
    }

    /// Sends one request once and waits for the head of the answer, whose body comes by and by. Whoever gets it takes all of it,
    /// or abandons it.
    ///
    /// A cancelled task gives the request up at once.
    func streamedAnswer(to call: HttpCall) async throws(HttpFailure) -> (head: HttpAnswer, body: BodyStream) {
        let measured = meter?.begin()
        return try await outcome { number, then in
            begin(call, number) { [eventLoop] link in
                AnswerStreamer(
                    place: call.origin.place,
                    eventLoop: eventLoop,
                    granting: { [unowned link] in link.grant($0, of: number) },
                    cancelling: { [unowned link] in link.cancel(number) },
                    then: { outcome in
                        measured?(outcome.map(\.head))
                        then(outcome)
                    }
                )
            }
        }
    }

    private func outcome<Answer: Sendable>(
        of begin: (UInt32, @escaping @Sendable (Result<Answer, HttpFailure>) -> Void) -> Void
    ) async throws(HttpFailure) -> Answer {
        let number = nextNumber()
        let isCancelled = Atomic(false)
        let outcome = await withTaskCancellationHandler {
            // Not a future's `get()`: that one leaves the caller's executor for the default one where none is preferred.
            await withCheckedContinuation { continuation in
                begin(number) { continuation.resume(returning: $0) }
                // Whoever was cancelled before there was anything to cancel.
                if isCancelled.load(ordering: .sequentiallyConsistent) { cancel(number) }
            }
        } onCancel: {
            isCancelled.store(true, ordering: .sequentiallyConsistent)
            cancel(number)
        }
        return try outcome.get()
    }

    /// Sends one request once and waits for nothing.
    ///
    /// - Parameter then: called on the event loop with the answer, if there is one.
    func send(_ call: HttpCall, then: @escaping @Sendable (HttpAnswer?) -> Void = { _ in }) {
        collect(call, nextNumber()) { then(try? $0.get()) }
    }

    /// Calls this once on the event loop, unless that ends before; nobody waits for it.
    func schedule(in delay: Duration, _ action: @escaping @Sendable () -> Void) {
        eventLoop.scheduleTask(in: TimeAmount(delay), action)
    }

    private func collect(
        _ call: HttpCall,
        _ number: UInt32,
        then completion: @escaping @Sendable (Result<HttpAnswer, HttpFailure>) -> Void
    ) {
        let measured = meter?.begin()
        begin(call, number) { link in
            AnswerCollector(
                place: call.origin.place,
                granting: { [unowned link] in link.grant($0, of: number) },
                then: { outcome in
                    measured?(outcome)
                    completion(outcome)
                }
            )
        }
    }

    private func begin(
        _ call: HttpCall,
        _ number: UInt32,
        for receiver: @escaping @Sendable (CourierLink) -> any AnswerReceiver
    ) {
        let limits = transferLimits(for: call)
        withLink { link in link.begin(OutgoingTransfer(number, call, limits, receiver(link), at: .now())) }
    }

    private func cancel(_ number: UInt32) {
        withLink { $0.cancel(number) }
    }

    private func nextNumber() -> UInt32 { lastNumber.wrappingAdd(1, ordering: .relaxed).newValue }

    private func withLink(_ body: @escaping @Sendable (CourierLink) -> Void) {
        eventLoop.execute { [link, makeLink] in
            let present = link.value ?? makeLink()
            link.value = present
            body(present)
        }
    }

    private func transferLimits(for call: HttpCall) -> TransferLimits {
        let request = limits.request.wholeMilliseconds
        var whole = min(call.patience?.wholeMilliseconds ?? request, request)
        let silence = whole
        if call.isBulk, !call.isStreamed {
            whole += Int64((call.longestAnswer + (call.body?.count ?? 0)) / HttpCall.slowestLine) * 1_000
        }
        // Half of it for each, so that a name server that takes long leaves time for the rest.
        let step = call.departure.map { $0.wholeMilliseconds / 2 } ?? .max
        return TransferLimits(
            resolve: UInt32(clamping: min(limits.resolve.wholeMilliseconds, step)),
            connect: UInt32(clamping: min(limits.connect.wholeMilliseconds, step)),
            silence: UInt32(clamping: silence),
            whole: call.isStreamed ? 0 : UInt32(clamping: whole),
            longestAnswer: call.isStreamed ? 0 : UInt64(call.longestAnswer),
            departure: call.departure.map { UInt64(clamping: clinux_boot_milliseconds() + $0.wholeMilliseconds) } ?? 0
        )
    }
}

extension TimeAmount {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
