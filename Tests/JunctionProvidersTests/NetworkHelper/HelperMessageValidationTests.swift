import Foundation
import JunctionNetworkHelper
import JunctionSecret
import JunctionSession
import JunctionTesting
import NIOCore
import Testing

@testable import JunctionProviders

/// The daemon validates each message of the network helper, which parses untrusted input. An invalid message ends its
/// transfer, an invalid frame ends the connection, and no message can fill the daemon's memory.
struct HelperMessageValidationTests {
    struct Offence: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var hasSentHello = true
        var bytes: [UInt8] = []
        var messages: [HelperMessage] = []
        var method = "POST"
    }

    private static let head = HelperMessage.head(AnswerHead(status: 200, headers: []))

    private static func head(_ headers: [(name: String, value: String)], status: UInt16 = 200) -> HelperMessage {
        .head(AnswerHead(status: status, headers: headers))
    }

    static let brokenFrames = [
        Offence(testDescription: "nonsense", bytes: Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)),
        Offence(testDescription: "the daemon's own words", bytes: [0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 1]),
        Offence(testDescription: "a frame that is too long", bytes: [0, 1, 0, 0, 0, 0, 0, 1, 133]),
        Offence(testDescription: "no greeting", hasSentHello: false, messages: [.leaving]),
        Offence(testDescription: "two greetings", messages: [.hello(version: DaemonMessage.version)]),
    ]

    @Test(arguments: brokenFrames)
    func `an invalid frame ends the connection, and the request is ambiguous`(offence: Offence) async throws {
        let helper = try FakeNetworkHelper()
        let http = helper.http()
        let call = try self.call()
        async let failure = http.failure(of: call)
        let line = try await helper.met()
        let number = try await line.opened()
        if offence.hasSentHello { line.say(.hello(version: DaemonMessage.version)) }

        line.write(offence.bytes)
        for message in offence.messages { line.say(message, about: number) }

        #expect(await failure?.says(.unintelligible) == true)
        #expect(await failure?.ambiguous == true)
        try await line.ended()
        await http.shutdown()
    }

    static let offences = [
        Offence(testDescription: "a body without a head", messages: [.leaving, .body(.ofZeros(1))]),
        Offence(testDescription: "a body before everything", messages: [.body(.ofZeros(1))]),
        Offence(testDescription: "an end without a head", messages: [.leaving, .end]),
        Offence(testDescription: "an answer to what has not left", messages: [head]),
        Offence(testDescription: "two heads", messages: [.leaving, head, head]),
        Offence(testDescription: "room for what was not sent", messages: [.leaving, .credit(3)]),
        Offence(testDescription: "all the room there is", messages: [.leaving, .credit(.max)]),
        Offence(testDescription: "room for nothing", messages: [.leaving, .credit(0)]),
        Offence(testDescription: "a part without a byte", messages: [.leaving, head, .body(.empty)]),
        Offence(testDescription: "a request that is made once and leaves twice", messages: [.leaving, .leaving]),
        Offence(
            testDescription: "more than the answer may have",
            messages: [.leaving, head, .body(.ofZeros(64)), .body(.ofZeros(1))]
        ),
        Offence(testDescription: "a status that is none", messages: [.leaving, head([], status: 101)]),
        Offence(testDescription: "a name that is not ASCII", messages: [.leaving, head([("x-\u{E9}", "1")])]),
        Offence(testDescription: "a name with a colon", messages: [.leaving, head([("Set-Cookie: a=b; x", "1")])]),
        Offence(testDescription: "a name with a space", messages: [.leaving, head([("Junction-Error ", "1")])]),
        Offence(
            testDescription: "a value with a new line",
            messages: [.leaving, head([("x", "1\r\nJunction-Error: 2")])]
        ),
        Offence(testDescription: "a length that is none", messages: [.leaving, head([("content-length", "1x")])]),
        Offence(
            testDescription: "two lengths",
            messages: [.leaving, head([("content-length", "1"), ("Content-Length", "2")])]
        ),
        Offence(
            testDescription: "more than was announced",
            messages: [.leaving, head([("content-length", "2")]), .body(.ofZeros(2)), .body(.ofZeros(1))]
        ),
        Offence(
            testDescription: "less than was announced",
            messages: [.leaving, head([("content-length", "2")]), .body(.ofZeros(1)), .end]
        ),
        Offence(testDescription: "a body of 204", messages: [.leaving, head([], status: 204), .body(.ofZeros(1))]),
        Offence(testDescription: "a body of 304", messages: [.leaving, head([], status: 304), .body(.ofZeros(1))]),
        Offence(
            testDescription: "a body in answer to HEAD",
            messages: [.leaving, head([("content-length", "1")]), .body(.ofZeros(1))],
            method: "HEAD"
        ),
    ]

    @Test(arguments: offences)
    func `an invalid message ends only its own transfer, which is ambiguous`(offence: Offence) async throws {
        let helper = try FakeNetworkHelper()
        let http = helper.http()
        let (other, call) = (try self.call(), try self.call(offence.method))
        async let answer = http.answer(to: other)
        let (line, first) = try await helper.asked()
        line.say(.leaving, Self.head([("content-length", "2")]), .body(.ofZeros(1)), about: first)
        async let failure = http.failure(of: call)
        let number = try await line.opened()

        for message in offence.messages { line.say(message, about: number) }

        #expect(await failure?.says(.malformed) == true)
        #expect(await failure?.ambiguous == true)
        try await line.cancelled(number)
        line.say(.body(.ofZeros(1)), .end, about: first)
        #expect(try await answer.body.count == 2)
        await http.shutdown()
    }

    private func call(_ method: String = "POST") throws -> HTTPCall {
        var call = HTTPCall(method: method, origin: try HTTPOrigin("https://provider.example"), target: "/")
        if method == "POST" { call.body = .plain([1, 2]) }
        call.longestAnswer = 64
        return call
    }

    @Test func `a repeatable request may leave six times and not seven times`() async throws {
        let helper = try FakeNetworkHelper()
        let http = helper.http()
        let repeated = try call("GET")
        async let answer = http.apiAnswer(to: repeated)
        let (line, number) = try await helper.asked()
        for _ in 0..<6 { line.say(.leaving, about: number) }
        line.say(Self.head, .end, about: number)
        #expect(try await answer.status == 200)

        async let failure = http.apiFailure(of: repeated)
        let next = try await line.opened()
        for _ in 0..<7 { line.say(.leaving, about: next) }
        #expect(await failure?.says(.malformed) == true)
        await http.shutdown()
    }

    @Test(.timeLimit(.minutes(2)))
    func `an answer that never ends is given up after its time limit`() async throws {
        let helper = try FakeNetworkHelper()
        let http = helper.http(
            .init(resolve: .seconds(600), connect: .seconds(600), request: .seconds(1), grace: .milliseconds(50))
        )
        var call = HTTPCall(method: "GET", origin: try HTTPOrigin("https://provider.example"), target: "/")
        call.longestAnswer = 1 << 40
        let endless = call
        async let failure = http.failure(of: endless)
        let (line, number) = try await helper.asked()
        line.say(.leaving, Self.head, about: number)
        // Single bytes, as fast as the daemon reads them, until it closes the connection.
        try await onThread { while line.say(.body(.ofZeros(1)), about: number) {} }

        #expect(await failure?.says(.late) == true)
        #expect(await failure?.ambiguous == true)
        await http.shutdown()
    }

    @Test(.timeLimit(.minutes(2)))
    func `before the request leaves, no message extends the timeout`() async throws {
        let helper = try FakeNetworkHelper()
        let http = helper.http(
            .init(
                resolve: .milliseconds(100),
                connect: .milliseconds(100),
                request: .seconds(600),
                grace: .milliseconds(50)
            )
        )
        var call = HTTPCall(method: "POST", origin: try HTTPOrigin("https://provider.example"), target: "/")
        call.body = .secret(.ofZeros(8 << 20))
        let waiting = call
        async let failure = http.failure(of: waiting)
        let (line, number) = try await helper.asked()
        // Grants single bytes of the request's body: the daemon always has more to send.
        let hearing = Task { try await line.ended() }
        try await onThread { while line.say(.credit(1), about: number) {} }

        #expect(await failure?.says(.silent) == true)
        _ = try await hearing.value
        await http.shutdown()
    }

    @Test(.timeLimit(.minutes(2)))
    func `a helper that only sends messages about transfers of its own is dropped`() async throws {
        let helper = try FakeNetworkHelper()
        let http = helper.http()
        let call = try call()
        async let failure = http.failure(of: call)
        let (line, _) = try await helper.asked()

        try await onThread { while line.say(.credit(1), about: 0xFFFF_FF00) {} }

        #expect(await failure?.says(.unintelligible) == true)
        await http.shutdown()
    }

    /// It grants more bytes of the body for ever, so its connection's queue would grow for ever.
    @Test(.timeLimit(.minutes(2)))
    func `a helper that reads nothing and grants more is dropped`() async throws {
        let helper = try FakeNetworkHelper()
        let http = helper.http()
        var call = HTTPCall(method: "POST", origin: try HTTPOrigin("https://provider.example"), target: "/")
        call.body = .secret(.ofZeros(32 << 20))
        let long = call
        async let failure = http.failure(of: long)
        let (line, number) = try await helper.asked()

        try await onThread { while line.say(.credit(UInt32(Flow.longestPart)), about: number) {} }

        #expect(await failure?.says(.unintelligible) == true)
        await http.shutdown()
    }

    @Test func `a message about an ended transfer is ignored`() async throws {
        let helper = try FakeNetworkHelper()
        let http = helper.http()
        let call = HTTPCall(method: "GET", origin: try HTTPOrigin("https://provider.example"), target: "/")
        async let first = http.answer(to: call)
        let (line, number) = try await helper.asked()
        line.say(.leaving, Self.head, .end, .body(.ofZeros(1)), .credit(1), .end, about: number)
        #expect(try await first.status == 200)

        async let second = http.answer(to: call)
        let next = try await line.opened()
        line.say(.leaving, Self.head, .end, about: next)

        #expect(try await second.status == 200)
        await http.shutdown()
    }

    @Test func `a request that has left stays ambiguous, whatever the helper reports later`() async throws {
        let helper = try FakeNetworkHelper()
        let http = helper.http()
        let call = HTTPCall(method: "GET", origin: try HTTPOrigin("https://provider.example"), target: "/")
        async let failure = http.failure(of: call)
        let (line, number) = try await helper.asked()
        line.say(.leaving, .failed(TransferFailure(.closed, requestLeft: false)), about: number)

        #expect(await failure?.detail == "provider.example closed the connection without a complete answer")
        #expect(await failure?.ambiguous == true)
        await http.shutdown()
    }

    @Test(arguments: TransferFailure.Cause.allCases, [0, 407, .max] as [UInt32])
    func `every failure has a message for any detail number`(cause: TransferFailure.Cause, number: UInt32) throws {
        let limits = TransferLimits(resolve: .max, connect: 0, silence: 0, whole: 0, longestAnswer: 0)
        let transfer = OutgoingTransfer(1, .session(try call()), limits, NoReceiver(), at: .now())

        let failure = Unavailability(TransferFailure(cause, detail: number, requestLeft: true), of: transfer)

        #expect(!failure.message.isEmpty && !failure.message.contains("\n"))
        #expect(failure.host == "provider.example")
        // Only the state of the transfer counts here.
        #expect(!failure.ambiguous)
    }
}
