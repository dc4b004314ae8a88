import JunctionNetworkHelper
import JunctionSecret
import JunctionSession
import NIOCore
import Synchronization
import Testing

@testable import JunctionProviders

/// Streamed bodies: the daemon holds no more of a body than its reader has requested.
struct StreamingTests {
    private static let head = HelperMessage.head(AnswerHead(status: 200, headers: []))

    private func call(_ method: String = "GET", _ body: HTTPCall.Body? = nil) throws -> HTTPCall {
        let origin = try HTTPOrigin("https://provider.example")
        return HTTPCall(method: method, origin: origin, target: "/", body: body)
    }

    /// Requests a streamed answer, whose head has arrived.
    private func streamedAnswer() async throws -> (
        FakeNetworkHelper, OutgoingHTTP, HelperConnection, number: UInt32, BodyStream
    ) {
        let helper = try FakeNetworkHelper()
        let http = helper.http()
        let call = try call()
        async let answer = http.streamedAnswer(to: call, isStreamed: true)
        let (line, number) = try await helper.asked()
        line.say(.leaving, Self.head, about: number)
        return (helper, http, line, number, try await answer.body)
    }

    @Test func `a streamed answer may have any length, and its reader sets the pace`() async throws {
        let (helper, http, line, number, body) = try await streamedAnswer()

        var taken = 0
        // Twice the limit of an answer that is not streamed.
        while taken < 2 * ApiRequest.longestBody {
            for _ in 0..<(Flow.window / Flow.longestPart) { line.say(.body(.ofZeros(Flow.longestPart)), about: number) }
            taken += try await helper.takes(Flow.window, of: body)
            try await line.granted(Flow.window)
        }
        line.say(.end, about: number)

        try await helper.sees { body.end == .complete }
        await http.shutdown()
    }

    @Test func `no more bytes are granted while the reader takes none`() async throws {
        let (helper, http, line, number, body) = try await streamedAnswer()
        for _ in 0..<(Flow.window / Flow.longestPart) { line.say(.body(.ofZeros(Flow.longestPart)), about: number) }
        try await helper.sees { body.count == Flow.window }

        // One byte more than was granted.
        line.say(.body(.ofZeros(1)), about: number)

        try await helper.sees { body.breach != nil }
        #expect(body.count == Flow.window)
        try await line.cancelled(number)
        await http.shutdown()
    }

    @Test func `an abandoned answer is cancelled`() async throws {
        let (helper, http, line, number, body) = try await streamedAnswer()
        line.say(.body(.ofZeros(1)), about: number)

        helper.loop.execute { body.abandon() }

        guard case .cancel? = try await line.next()?.message else {
            return #expect(Bool(false), "It was not cancelled")
        }
        await http.shutdown()
    }

    @Test func `a streamed request is sent only as far as it was granted`() async throws {
        let helper = try FakeNetworkHelper()
        let http = helper.http()
        let upload = BodyStream()
        let call = try call("PUT", .streamed(upload))
        helper.put(3 * Flow.window, into: upload)
        async let answer = http.streamedAnswer(to: call, isStreamed: true)
        let (line, number) = try await helper.asked()

        try await line.received(Flow.window)
        #expect(upload.count == 2 * Flow.window)

        line.say(.credit(UInt32(Flow.longestPart)), about: number)
        try await line.received(Flow.longestPart)
        #expect(upload.count == 2 * Flow.window - Flow.longestPart)

        line.say(.leaving, Self.head, .end, about: number)
        _ = try await answer
        // The helper drops the rest, and the upload is marked as abandoned.
        try await helper.sees { upload.isAbandoned }
        await http.shutdown()
    }

    @Test func `a request whose upload fails is cancelled`() async throws {
        let helper = try FakeNetworkHelper()
        let http = helper.http()
        let upload = BodyStream(length: 100)
        let call = try call("PUT", .streamed(upload))
        helper.put(10, into: upload)
        async let answer = http.streamedAnswer(to: call, isStreamed: true)
        let (line, _) = try await helper.asked()
        try await line.received(10)

        helper.loop.execute { upload.finish(.broken(Unavailability("The app has gone"))) }

        guard case .cancel? = try await line.next()?.message else {
            return #expect(Bool(false), "It was not cancelled")
        }
        do {
            _ = try await answer
            #expect(Bool(false), "There was an answer")
        } catch let failure as Unavailability {
            #expect(failure.says(.cancelled))
        }
        await http.shutdown()
    }

    @Test func `a helper that waits for the daemon does not count as silent`() throws {
        let upload = BodyStream()
        let limits = TransferLimits(resolve: 1, connect: 1, silence: 1, whole: 0, longestAnswer: 0)
        var call = try call("PUT", .streamed(upload))
        call.longestAnswer = .max
        let transfer = OutgoingTransfer(1, .api(call, isStreamed: true), limits, NoReceiver(), at: .now())

        // No byte of the body is available yet.
        #expect(transfer.waitsForUs)
        SharedSecret.ofZeros(10).withUnsafeBytes { upload.put($0) }
        #expect(transfer.nextPart()?.count == 10)
        // The helper has the bytes and must grant them again.
        #expect(!transfer.waitsForUs)
        #expect(transfer.accepts(.credit(10)))
        #expect(transfer.waitsForUs)
        // The body is complete, so only the answer is missing.
        transfer.hasSentEnd = true
        #expect(!transfer.waitsForUs)

        // An answer that the reader does not take cannot continue.
        #expect(transfer.accepts(.leaving) && transfer.accepts(Self.head))
        for _ in 0..<7 { #expect(transfer.accepts(.body(.ofZeros(Flow.longestPart)))) }
        #expect(transfer.waitsForUs)
        transfer.grant(Flow.longestPart)
        #expect(!transfer.waitsForUs)
    }

    @Test(arguments: [nil, 600_000 as UInt64])
    func `the real helper sends a body as it arrives`(length: UInt64?) async throws {
        let count = 600_000
        try await Stage.play([.answer(200, [], "fine")]) { stage in
            let upload = BodyStream(length: length)
            let origin = try HTTPOrigin(stage.server.url)
            let call = HTTPCall(method: "POST", origin: origin, target: "/", body: .streamed(upload))
            let left = Mutex(count)
            // An app also sends more only when there is space.
            upload.whenTaken { taken in
                guard taken == 0 else { return }
                stage.http.schedule(in: .zero) {
                    let piece = left.withLock { left in
                        let piece = min(left, 50_000)
                        left -= piece
                        return piece
                    }
                    if piece > 0 {
                        SharedSecret.ofZeros(piece).withUnsafeBytes { upload.put($0) }
                    } else {
                        upload.finish(.complete)
                    }
                }
            } abandoned: {
            }

            let (head, body) = try await stage.http.streamedAnswer(to: call, isStreamed: true)

            #expect(head.status == 200)
            #expect(await body.whole(atMost: 100) == Array("fine".utf8))
            #expect(stage.server.requests.first?.body.utf8.count { $0 == 0 } == count)
        }
    }
}

extension FakeNetworkHelper {
    /// Waits until the condition is true.
    func sees(_ condition: @escaping @Sendable () -> Bool) async throws {
        while try await !loop.submit(condition).get() {}
    }

    /// Takes this many bytes of a body as they arrive.
    func takes(_ count: Int, of body: BodyStream) async throws -> Int {
        var taken = 0
        while taken < count {
            let most = count - taken
            taken += try await loop.submit { body.take(atMost: most) { $0.count } ?? 0 }.get()
        }
        return taken
    }

    func put(_ count: Int, into body: BodyStream) {
        loop.execute {
            SharedSecret.ofZeros(count).withUnsafeBytes { body.put($0) }
        }
    }
}

extension HelperConnection {
    /// Waits until the daemon has granted this many bytes.
    fileprivate func granted(_ count: Int) async throws {
        var granted = 0
        while granted < count, let (_, message) = try await next() {
            if case .credit(let more) = message { granted += Int(more) }
        }
        #expect(granted == count)
    }

    /// Waits until this many bytes of the request have arrived.
    fileprivate func received(_ count: Int) async throws {
        var received = 0
        while received < count, let (_, message) = try await next() {
            if case .body(let part) = message { received += part.count }
        }
        #expect(received == count)
    }
}
