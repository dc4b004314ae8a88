import CLinux
package import JunctionNetworkHelper
import JunctionSession
package import NIOCore
import Synchronization

/// Sends HTTPS requests to providers through a network helper, because this process has no network access. Each request
/// gets one answer: no redirect, no retry, no cookie, bounded in size and time.
///
/// There are two helpers (`NetworkHelper`). Each starts with its first request. Their links run on the given event
/// loop.
package final class OutgoingHTTP: Sendable {
    /// Time limits for the steps of a request.
    package struct Limits: Equatable, Sendable {
        /// To resolve the name of the host.
        package var resolve: Duration
        /// To connect after that, TLS and proxy included.
        package var connect: Duration
        /// From there to the complete answer. For a long body: between two parts of it.
        package var request: Duration
        /// How long an idle helper is kept.
        package var idle: Duration
        /// How much longer than its limits a helper may be silent. The helper enforces the limits itself unless it is
        /// stopped.
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
    private let links: NIOLoopBoundBox<[NetworkHelper: HelperLink]>
    private let makeLink: @Sendable () -> HelperLink
    private let lastNumber = Atomic<UInt32>(0)
    private let meter: RequestMeter?

    /// Prepares the helpers without starting them.
    ///
    /// - Parameters:
    ///   - helper: the place where the daemon gets a network helper.
    ///   - network: the network settings.
    ///   - userAgent: `junctiond/` and the version.
    ///   - meter: receives the measurements of every request.
    ///   - whenIdle: called on the event loop after an idle network helper was closed.
    package init(
        eventLoop: any EventLoop,
        helper: HelperEndpoint,
        network: NetworkSettingsSource = NetworkSettingsSource(),
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
            HelperLink(
                eventLoop,
                helper,
                network,
                userAgent: userAgent,
                idle: TimeAmount(limits.idle),
                grace: TimeAmount(limits.grace),
                whenIdle: whenIdle
            )
        }
    }

    /// Ends all requests and closes the network helpers. Call this before the last reference is released. No request
    /// can be sent afterwards.
    package func shutdown() async {
        await withCheckedContinuation { continuation in
            eventLoop.execute { [links, makeLink] in
                // Also closes a link that does not exist yet, so that it cannot start a helper.
                for helper in NetworkHelper.allCases {
                    let link = links.value[helper] ?? makeLink()
                    links.value[helper] = link
                    link.close()
                }
                continuation.resume()
            }
        }
    }

    /// Sends one request of the session once and waits for the whole answer.
    ///
    /// If the task is cancelled, the request ends at once.
    func answer(to call: HTTPCall) async throws(Unavailability) -> HTTPAnswer {
        try await outcome(of: .session(call)) { number, then in collect(call, number, then: then) }
    }

    /// Sends one request of an app once and waits for the head of the answer. The caller must then take the whole body
    /// or abandon it.
    ///
    /// If the task is cancelled, the request ends at once.
    ///
    /// - Parameter isStreamed: whether the answer is passed on as it arrives (`HelperRequest.api`). Otherwise it has at
    ///   most `ApiRequest.longestBody` bytes.
    func streamedAnswer(
        to call: HTTPCall,
        isStreamed: Bool
    ) async throws(Unavailability) -> (head: HTTPAnswer, body: BodyStream) {
        let measured = meter?.begin()
        var call = call
        call.longestAnswer = isStreamed ? .max : ApiRequest.longestBody
        let helperRequest = HelperRequest.api(call, isStreamed: isStreamed)
        return try await outcome(of: helperRequest) { number, then in
            begin(helperRequest, number) { [eventLoop] link in
                AnswerStreamer(
                    place: helperRequest.call.origin.place,
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
        of helperRequest: HelperRequest,
        _ begin: (UInt32, @escaping @Sendable (Result<Answer, Unavailability>) -> Void) -> Void
    ) async throws(Unavailability) -> Answer {
        let number = nextNumber()
        let isCancelled = Atomic(false)
        let outcome = await withTaskCancellationHandler {
            // A continuation, because `get()` of a future may leave the caller's executor for the default one.
            await withCheckedContinuation { continuation in
                begin(number) { continuation.resume(returning: $0) }
                // The task may have been cancelled before the transfer existed.
                if isCancelled.load(ordering: .sequentiallyConsistent) { cancel(number, helperRequest) }
            }
        } onCancel: {
            isCancelled.store(true, ordering: .sequentiallyConsistent)
            cancel(number, helperRequest)
        }
        return try outcome.get()
    }

    /// Sends one request once and does not wait.
    ///
    /// - Parameter then: called on the event loop with the answer, or `nil` after a failure.
    func send(_ call: HTTPCall, then: @escaping @Sendable (HTTPAnswer?) -> Void = { _ in }) {
        collect(call, nextNumber()) { then(try? $0.get()) }
    }

    /// Schedules an action on the event loop. It does not run if the event loop shuts down first.
    func schedule(in delay: Duration, _ action: @escaping @Sendable () -> Void) {
        eventLoop.scheduleTask(in: TimeAmount(delay), action)
    }

    private func collect(
        _ call: HTTPCall,
        _ number: UInt32,
        then completion: @escaping @Sendable (Result<HTTPAnswer, Unavailability>) -> Void
    ) {
        let measured = meter?.begin()
        begin(.session(call), number) { link in
            AnswerCollector(
                place: call.origin.place,
                granting: { [unowned link] in link.grant($0, of: number) },
                then: { outcome in
                    measured?(try? outcome.get())
                    completion(outcome)
                }
            )
        }
    }

    private func begin(
        _ helperRequest: HelperRequest,
        _ number: UInt32,
        for receiver: @escaping @Sendable (HelperLink) -> any AnswerReceiver
    ) {
        let limits = transferLimits(for: helperRequest)
        withLink(for: helperRequest) { link in
            link.begin(OutgoingTransfer(number, helperRequest, limits, receiver(link), at: .now()))
        }
    }

    private func cancel(_ number: UInt32, _ helperRequest: HelperRequest) {
        withLink(for: helperRequest) { $0.cancel(number) }
    }

    private func nextNumber() -> UInt32 { lastNumber.wrappingAdd(1, ordering: .relaxed).newValue }

    private func withLink(for helperRequest: HelperRequest, _ body: @escaping @Sendable (HelperLink) -> Void) {
        eventLoop.execute { [links, makeLink, helper = helperRequest.helper] in
            let present = links.value[helper] ?? makeLink()
            links.value[helper] = present
            body(present)
        }
    }

    private func transferLimits(for helperRequest: HelperRequest) -> TransferLimits {
        let call = helperRequest.call
        let request = limits.request.wholeMilliseconds
        var whole = min(call.patience?.wholeMilliseconds ?? request, request)
        let silence = whole
        let isStreamed = if case .api(_, true) = helperRequest { true } else { false }
        if case .api = helperRequest, !isStreamed {
            whole += Int64((call.longestAnswer + (call.body?.count ?? 0)) / HTTPCall.slowestLine) * 1_000
        }
        // Each of the two steps gets half, so that a slow name server leaves time to connect.
        let step = call.sendDeadline.map { $0.wholeMilliseconds / 2 } ?? .max
        return TransferLimits(
            resolve: UInt32(clamping: min(limits.resolve.wholeMilliseconds, step)),
            connect: UInt32(clamping: min(limits.connect.wholeMilliseconds, step)),
            silence: UInt32(clamping: silence),
            whole: isStreamed ? 0 : UInt32(clamping: whole),
            longestAnswer: isStreamed ? 0 : UInt64(call.longestAnswer),
            sendDeadline: call.sendDeadline.map { UInt64(clamping: clinux_boot_milliseconds() + $0.wholeMilliseconds) }
                ?? 0
        )
    }
}
