import CLinux
import Foundation
import JunctionNetworkHelper
import JunctionSecret
import JunctionSession
import NIOCore
import Testing

@testable import JunctionProviders

/// The daemon's messages to its network helper, and the life of the connection.
struct HelperRequestTests {
    private let helper: FakeNetworkHelper

    init() throws {
        helper = try FakeNetworkHelper()
    }

    @Test func `one helper handles consecutive requests`() async throws {
        let http = helper.http()
        let call = try call("GET")
        async let first = http.answer(to: call)
        let (line, number) = try await helper.asked()
        line.say(.leaving, .head(AnswerHead(status: 200, headers: [])), .end, about: number)
        _ = try await first

        async let second = http.answer(to: call)
        let next = try await line.opened()
        line.say(.leaving, .head(AnswerHead(status: 201, headers: [])), .end, about: next)

        #expect(try await second.status == 201)
        #expect(next != number)
        await http.shutdown()
        try await line.ended()
    }

    @Test(arguments: [(60, 10_000), (9, 4_500), (0, 0), (-5, 0)])
    func `a send deadline limits the time to resolve and to connect`(
        sendDeadline: Int,
        milliseconds: UInt32
    ) async throws {
        let http = helper.http(.init())
        var call = try call("POST")
        call.sendDeadline = .seconds(sendDeadline)
        let earliest = clinux_boot_milliseconds()
        let bounded = call
        let task = Task { await http.failure(of: bounded) }
        let line = try await helper.met()

        let limits = try await line.request().limits
        #expect(limits.resolve == milliseconds)
        #expect(limits.connect == milliseconds)
        #expect(limits.silence == 10_000)
        // The deadline is a time, because a helper may start late.
        #expect(earliest + Int64(sendDeadline) * 1_000 <= Int64(clamping: limits.sendDeadline))
        #expect(Int64(clamping: limits.sendDeadline) <= clinux_boot_milliseconds() + Int64(sendDeadline) * 1_000)
        task.cancel()
        _ = await task.value
        await http.shutdown()
    }

    @Test func `an idle helper is closed`() async throws {
        var limits = OutgoingHTTP.Limits.patient
        limits.idle = .milliseconds(1)
        let http = helper.http(limits)
        let call = try call("GET")
        async let answer = http.answer(to: call)
        let (line, number) = try await helper.asked()
        line.say(.leaving, .head(AnswerHead(status: 200, headers: [])), .end, about: number)
        _ = try await answer

        try await line.ended()
        await http.shutdown()
    }

    @Test func `a busy helper is kept, however long it takes`() async throws {
        var limits = OutgoingHTTP.Limits.patient
        limits.idle = .zero
        let http = helper.http(limits)
        let call = try call("GET")
        async let answer = http.answer(to: call)
        let (line, number) = try await helper.asked()
        // An idle helper would have been closed by now.
        try await helper.loop.scheduleTask(in: .milliseconds(10)) {}.futureResult.get()
        line.say(.leaving, .head(AnswerHead(status: 200, headers: [])), .end, about: number)

        #expect(try await answer.status == 200)
        await http.shutdown()
    }

    @Test func `a body is sent as far as the helper has granted`() async throws {
        let http = helper.http()
        var call = try call("POST")
        let count = 3 * Flow.window + 1
        call.body = .secret(.ofZeros(count))
        async let answer = http.answer(to: call)
        let (line, number) = try await helper.asked()

        var (received, granted) = (0, Flow.window)
        while let (about, message) = try await line.next() {
            #expect(about == number)
            if case .end = message { break }
            guard case .body(let part) = message else {
                Issue.record("\(message.kind)")
                break
            }
            received += part.count
            #expect(part.count <= Flow.longestPart)
            #expect(received <= granted)
            guard received == granted else { continue }
            // Nothing more arrives before the next grant.
            try await helper.loop.submit {}.get()
            line.say(.credit(UInt32(Flow.window)), about: number)
            granted += Flow.window
        }

        #expect(received == count)
        line.say(.leaving, .head(AnswerHead(status: 200, headers: [])), .end, about: number)
        _ = try await answer
        await http.shutdown()
    }

    @Test func `a received body is granted again`() async throws {
        let http = helper.http()
        var call = try call("GET")
        let parts = 3 * Flow.window / Flow.longestPart
        call.longestAnswer = parts * Flow.longestPart
        async let answer = http.answer(to: call)
        let (line, number) = try await helper.asked()
        line.say(.leaving, .head(AnswerHead(status: 200, headers: [])), about: number)

        var granted = Flow.window
        for part in 0..<parts {
            while granted < (part + 1) * Flow.longestPart {
                guard case .credit(let count) = try await line.next()?.message else { continue }
                granted += Int(count)
            }
            line.say(.body(.ofZeros(Flow.longestPart)), about: number)
        }
        line.say(.end, about: number)

        #expect(try await answer.body.count == parts * Flow.longestPart)
        await http.shutdown()
    }

    @Test func `a cancelled request is cancelled at the helper`() async throws {
        let http = helper.http()
        let call = try call("GET")
        let task = Task { await http.failure(of: call) }
        let (line, number) = try await helper.asked()
        task.cancel()

        #expect(await task.value?.says(.cancelled) == true)
        #expect(await task.value?.ambiguous == true)
        let (about, message) = try #require(try await line.next())
        #expect(about == number)
        #expect(message.kind == .cancel)
        await http.shutdown()
    }

    @Test func `more requests than the limit of a helper are refused`() async throws {
        let http = helper.http()
        let call = try call("GET")
        for _ in 0..<Flow.mostTransfers { http.send(call) }
        #expect(await http.failure(of: call)?.says(.tooManyUnderWay) == true)
        let (line, _) = try await helper.asked()
        for _ in 1..<Flow.mostTransfers { _ = try await line.opened() }
        await http.shutdown()
    }

    @Test func `a socket without a listener is reported as the cause`() async throws {
        let path = "/tmp/no-such-socket"
        let http = OutgoingHTTP(eventLoop: helper.loop, helper: .socket(path: path), userAgent: "test")
        let failure = await http.failure(of: try call("GET"))

        #expect(failure?.ambiguous == false)
        #expect(
            failure?.message == """
                The network helper cannot be reached at \(path) (No such file or directory): \
                run: systemctl start junctiond-courier.socket
                """
        )
        await http.shutdown()
    }

    private func call(_ method: String) throws -> HTTPCall {
        HTTPCall(method: method, origin: try HTTPOrigin("https://provider.example"), target: "/")
    }
}
