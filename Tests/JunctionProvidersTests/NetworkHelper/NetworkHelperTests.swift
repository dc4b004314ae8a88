import JunctionNetworkHelper
import JunctionSession
import Testing

@testable import JunctionProviders

/// Requests of apps and requests of the session use separate network helpers.
struct NetworkHelperTests {
    private let helper: FakeNetworkHelper
    private static let head = HelperMessage.head(AnswerHead(status: 200, headers: []))

    init() throws {
        helper = try FakeNetworkHelper()
    }

    private func call() throws -> HTTPCall {
        HTTPCall(method: "POST", origin: try HTTPOrigin("https://provider.example"), target: "/")
    }

    @Test func `the case of a request selects its helper`() throws {
        #expect(HelperRequest.session(try call()).helper == .session)
        #expect(HelperRequest.api(try call(), isStreamed: false).helper == .api)
        #expect(HelperRequest.api(try call(), isStreamed: true).helper == .api)
    }

    @Test func `an API call that crashes its helper does not end a request of the session`() async throws {
        let http = helper.http()
        let call = try call()
        async let renewal = http.answer(to: call)
        let (session, first) = try await helper.asked()
        session.say(.leaving, about: first)
        async let lost = http.apiFailure(of: call)
        let (api, second) = try await helper.asked()
        api.say(.leaving, about: second)

        api.write(Array("HTTP/1.1 101 Switching Protocols".utf8))

        #expect(await lost?.says(.unintelligible) == true)
        try await api.ended()
        session.say(Self.head, .end, about: first)
        #expect(try await renewal.status == 200)
        await http.shutdown()
    }

    @Test func `each helper handles consecutive requests of its own kind`() async throws {
        let http = helper.http()
        let call = try call()
        var lines: [HelperConnection] = []
        for number in 0..<2 {
            async let mine = http.answer(to: call)
            if number == 0 { lines.append(try await helper.greeted()) }
            let first = try await lines[0].opened()
            lines[0].say(.leaving, Self.head, .end, about: first)
            _ = try await mine

            async let whole = http.apiAnswer(to: call)
            if number == 0 { lines.append(try await helper.greeted()) }
            let second = try await lines[1].opened()
            lines[1].say(.leaving, Self.head, .end, about: second)
            _ = try await whole

            async let streamed = http.streamedAnswer(to: call, isStreamed: true)
            let third = try await lines[1].opened()
            lines[1].say(.leaving, Self.head, .end, about: third)
            _ = try await streamed
        }
        await http.shutdown()
        for line in lines { try await line.ended() }
    }

    @Test func `requests of apps do not count towards the session's limit`() async throws {
        let http = helper.http()
        let call = try call()
        let calls = (0..<Flow.mostTransfers).map { _ in Task { await http.apiFailure(of: call) } }
        let api = try await helper.greeted()
        for _ in calls { _ = try await api.opened() }
        #expect(await http.apiFailure(of: call)?.says(.tooManyUnderWay) == true)

        async let renewal = http.answer(to: call)
        let (session, number) = try await helper.asked()
        session.say(.leaving, Self.head, .end, about: number)

        #expect(try await renewal.status == 200)
        await http.shutdown()
        for call in calls { #expect(await call.value?.says(.cancelled) == true) }
    }

    @Test func `after the shutdown neither helper sends a request`() async throws {
        let http = helper.http()
        await http.shutdown()

        #expect(await http.failure(of: try call())?.says(.shutDown) == true)
        #expect(await http.apiFailure(of: try call())?.says(.shutDown) == true)
    }
}
