import Foundation
import JunctionNetworkHelper
import JunctionSecret
import JunctionSession
import NIOCore
import Testing

@testable import JunctionProviders

/// The loss of a network helper: its messages until then count, and every request that waits for it ends.
struct HelperLossTests {
    private let helper: FakeNetworkHelper

    init() throws {
        helper = try FakeNetworkHelper()
    }

    // More than one read of the daemon, and less than the socket buffer.
    @Test(arguments: [1, 4, 12])
    func `an answer that was complete before its helper ended is accepted`(parts: Int) async throws {
        let http = helper.http()
        var call = try call()
        call.longestAnswer = parts << 12
        async let answer = http.answer(to: call)
        let (line, number) = try await helper.asked()

        // The daemon writes to a closed socket while it is still reading.
        try await helper.loop.submit {
            line.say(.leaving, .head(AnswerHead(status: 200, headers: [])), about: number)
            for _ in 0..<parts { line.say(.body(.ofZeros(1 << 12)), about: number) }
            line.say(.end, about: number)
            line.closeConnection()
        }.get()

        #expect(try await answer.body.count == parts << 12)
        await http.shutdown()
    }

    @Test(arguments: [true, false])
    func `a request is ambiguous after the loss of its helper only if it has left`(hasLeft: Bool) async throws {
        let http = helper.http()
        let call = try call(body: 1 << 20)
        async let failure = http.failure(of: call)
        let (line, number) = try await helper.asked()

        try await helper.loop.submit {
            if hasLeft { line.say(.leaving, about: number) }
            line.say(.credit(1), about: number)
            // Much of the body is still unread, so the kernel reports an error.
            line.closeConnection()
        }.get()

        #expect(await failure?.says(.died) == true)
        #expect(await failure?.ambiguous == hasLeft)
        await http.shutdown()
    }

    @Test func `a request to a helper that has just ended fails`() async throws {
        let http = helper.http()
        let (line, number) = try await begun(http)
        line.say(.failed(TransferFailure(.refused, requestLeft: false)), about: number)
        let call = try call()

        let outcome = AsyncStream.makeStream(of: HTTPAnswer?.self)
        helper.loop.execute {
            line.closeConnection()
            http.send(call) { outcome.continuation.yield($0) }
        }

        for await answer in outcome.stream {
            #expect(answer == nil)
            break
        }
        await http.shutdown()
    }

    @Test func `a request that is cancelled after its helper has ended ends once`() async throws {
        let http = helper.http()
        let call = try call()
        let task = Task { await http.failure(of: call) }
        let (line, _) = try await helper.asked()
        try await helper.loop.submit {
            line.closeConnection()
            task.cancel()
        }.get()

        #expect(await task.value != nil)
        await http.shutdown()
    }

    @Test func `a request after the loss of a helper gets a new helper`() async throws {
        let http = helper.http()
        let call = try call()
        async let lost = http.failure(of: call)
        let (line, _) = try await helper.asked()
        line.closeConnection()
        #expect(await lost?.says(.died) == true)

        async let answer = http.answer(to: call)
        let (next, number) = try await helper.asked()
        next.say(.leaving, .head(AnswerHead(status: 204, headers: [])), .end, about: number)

        #expect(try await answer.status == 204)
        await http.shutdown()
    }

    @Test func `an incomplete message at the end of the connection is ignored`() async throws {
        let http = helper.http()
        let call = try call()
        async let failure = http.failure(of: call)
        let (line, number) = try await helper.asked()
        line.write([0, 0, 0, 0, 0, 0, 0, UInt8(number)])
        line.closeConnection()

        #expect(await failure?.says(.died) == true)
        #expect(await failure?.ambiguous == false)
        await http.shutdown()
    }

    @Test func `a silent helper is given up, and its request is ambiguous`() async throws {
        let http = helper.http(.init(resolve: .zero, connect: .zero, request: .zero, grace: .milliseconds(50)))
        let call = try call()
        async let failure = http.failure(of: call)
        let line = try await helper.met()

        #expect(await failure?.says(.silent) == true)
        #expect(await failure?.ambiguous == true)
        try await line.ended()
        await http.shutdown()
    }

    @Test(.timeLimit(.minutes(2)))
    func `a helper that stops after the request left is given up in time for a refresh retry`() async throws {
        // The response timeout after `leaving` does not include the time to resolve and to connect.
        let http = helper.http(
            .init(resolve: .seconds(600), connect: .seconds(600), request: .milliseconds(50), grace: .milliseconds(50))
        )
        let call = try call()
        async let failure = http.failure(of: call)
        let (line, number) = try await helper.asked()
        line.say(.leaving, about: number)

        #expect(await failure?.says(.silent) == true)
        #expect(await failure?.ambiguous == true)
        await http.shutdown()
    }

    @Test func `a helper of another version is not used`() async throws {
        let http = helper.http()
        let call = try call()
        async let failure = http.failure(of: call)
        let line = try await helper.met()
        line.say(.hello(version: DaemonMessage.version + 1))

        #expect(await failure?.says(.ofAnotherVersion) == true)
        #expect(await failure?.ambiguous == false)
        try await line.ended()
        await http.shutdown()
    }

    /// Starts a transfer and does not wait for its end.
    private func begun(_ http: OutgoingHTTP) async throws -> (HelperConnection, UInt32) {
        http.send(try call())
        return try await helper.asked()
    }

    private func call(body: Int? = nil) throws -> HTTPCall {
        var call = HTTPCall(method: "POST", origin: try HTTPOrigin("https://provider.example"), target: "/")
        if let body { call.body = .secret(.ofZeros(body)) }
        return call
    }
}

extension SharedSecret {
    static func ofZeros(_ count: Int) -> SharedSecret {
        [UInt8](repeating: 0, count: count).withUnsafeBytes { SharedSecret(copying: $0) }
    }
}
