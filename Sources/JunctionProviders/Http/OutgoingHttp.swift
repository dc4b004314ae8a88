import AsyncHTTPClient
import Dispatch
package import NIOCore
import NIOHTTP1
import Synchronization

/// The one way out to the vendors: HTTP/1.1 over TLS, no redirect, no retry, no cookie, bounded in size and time.
///
/// It costs nothing until the first request and lives on the given event loop. Nothing here touches the default
/// concurrency executor or Dispatch's global queues: their monitor would wake the process once a second for ever.
package final class OutgoingHttp: Sendable {
    /// How long things may take.
    package struct Limits: Sendable {
        /// Name, connection and TLS together.
        package var connect: Duration
        /// From the call to the last byte of the answer.
        package var whole: Duration
        /// How long a connection is kept for a next request. Renewals are hours apart: it should never be stale.
        package var idle: Duration

        package init(connect: Duration = .seconds(5), whole: Duration = .seconds(15), idle: Duration = .seconds(2)) {
            self.connect = connect
            self.whole = whole
            self.idle = idle
        }
    }

    private enum Door {
        case untried
        case open(HTTPClient)
        case closed
    }

    private let eventLoop: any EventLoop
    private let trust: TrustAnchors
    private let userAgent: String
    private let limits: Limits
    private let door = Mutex(Door.untried)

    /// Prepares a way out that is not used yet.
    ///
    /// - Parameter userAgent: `junctiond/` and the version.
    package init(eventLoop: any EventLoop, trust: TrustAnchors, userAgent: String, limits: Limits = Limits()) {
        self.eventLoop = eventLoop
        self.trust = trust
        self.userAgent = userAgent
        self.limits = limits
    }

    /// Ends what is under way and closes every connection. It must have been called before the last reference goes,
    /// and nothing can be sent after it.
    package func shutdown() async {
        let before = door.withLock { door in
            defer { door = .closed }
            return door
        }
        guard case .open(let client) = before else { return }
        // The future-returning shutdown() goes through a global queue; a private one leaves nothing behind.
        let queue = DispatchQueue(label: "junctiond.http.shutdown")
        await withCheckedContinuation { continuation in
            client.shutdown(queue: queue) { _ in continuation.resume() }
        }
    }

    /// Sends one request once and waits for the whole answer.
    ///
    /// A cancelled task gives the request up at once.
    func answer(to call: HttpCall) async throws(HttpFailure) -> HttpAnswer {
        let patience = min(call.patience ?? limits.whole, limits.whole)
        let collector = AnswerCollector(place: call.origin.place, longestAnswer: call.longestAnswer)
        let body = call.body?.buffer
        // Before anybody hears of the answer: the request held a token, and has been sent or never will be.
        defer { if case .secret = call.body { body?.wipe() } }

        let outcome = await outcome(of: call, sending: body, to: collector, within: patience)
        do {
            return try outcome.get()
        } catch {
            let cause = HttpFailure.Cause(
                error,
                limits: limits,
                patience: patience,
                longestAnswer: call.longestAnswer
            )
            throw HttpFailure(cause: cause, place: call.origin.place, requestLeft: collector.requestLeft)
        }
    }

    /// Sends one request once and waits for nothing.
    ///
    /// - Parameter then: called on an event loop with the answer, if there is one; not at all when nothing can be sent.
    func send(_ call: HttpCall, then: @escaping @Sendable (HttpAnswer?) -> Void = { _ in }) {
        let body = call.body?.buffer
        guard let request = try? request(for: call, sending: body), let client = try? openDoor() else { return }
        let collector = AnswerCollector(place: call.origin.place, longestAnswer: call.longestAnswer)
        let deadline = NIODeadline.now() + TimeAmount(min(call.patience ?? limits.whole, limits.whole))
        client.execute(request: request, delegate: collector, deadline: deadline).futureResult.whenComplete { outcome in
            if case .secret = call.body { body?.wipe() }
            then(try? outcome.get())
        }
    }

    /// Calls this once on the event loop, unless that ends before; nobody waits for it.
    func schedule(in delay: Duration, _ action: @escaping @Sendable () -> Void) {
        eventLoop.scheduleTask(in: TimeAmount(delay), action)
    }

    private func outcome(
        of call: HttpCall,
        sending body: ByteBuffer?,
        to collector: AnswerCollector,
        within patience: Duration
    ) async -> Result<HttpAnswer, any Error> {
        let request: HTTPClient.Request
        let client: HTTPClient
        do {
            request = try self.request(for: call, sending: body)
            client = try openDoor()
        } catch {
            return .failure(error)
        }
        let deadline = NIODeadline.now() + TimeAmount(patience)
        let task = client.execute(request: request, delegate: collector, deadline: deadline)
        return await withTaskCancellationHandler {
            // Not `get()`: that one leaves the caller's executor for the default one where no preference is set.
            await withCheckedContinuation { continuation in
                task.futureResult.whenComplete { continuation.resume(returning: $0) }
            }
        } onCancel: {
            task.cancel()
        }
    }

    private func request(for call: HttpCall, sending body: ByteBuffer?) throws -> HTTPClient.Request {
        var headers = HTTPHeaders(call.headers)
        headers.replaceOrAdd(name: "user-agent", value: userAgent)
        return try HTTPClient.Request(
            url: call.origin.url + call.target,
            method: HTTPMethod(rawValue: call.method),
            headers: headers,
            body: body.map(HTTPClient.Body.byteBuffer)
        )
    }

    private func openDoor() throws -> HTTPClient {
        try door.withLock { door in
            switch door {
            case .open(let client):
                return client
            case .untried:
                let client = HTTPClient(eventLoopGroup: eventLoop, configuration: configuration)
                door = .open(client)
                return client
            case .closed:
                throw HTTPClientError.alreadyShutdown
            }
        }
    }

    private var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: trust.configuration,
            redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(limits.connect)),
            connectionPool: .init(idleTimeout: TimeAmount(limits.idle)),
            decompression: .disabled
        )
        configuration.httpVersion = .http1Only
        // Otherwise an untrusted certificate is tried again until the deadline, and then called a timeout.
        // Retrying belongs to the session, which knows when.
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }
}

extension TimeAmount {
    fileprivate init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
