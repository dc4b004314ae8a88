import JunctionSession
import Testing

@testable import FleetSimulation

@Suite struct ProviderTests {
    private var random = Randomness(seed: 1)

    @Test mutating func `requests above the capacity wait in the queue, and are rejected when it is full`() {
        var provider = Provider(daemons: 1_000_000)

        let answers = (0..<10_000).map { daemon in
            provider.answer(from: daemon, at: 0, in: nil, using: &random)
        }

        // One second of requests for each second of the queue, and the request in progress.
        let granted = answers.count { $0.outcome == .granted }
        #expect(abs(granted - 7_500) <= 2)
        let longest = answers.filter { $0.outcome == .granted }.map(\.after).max() ?? 0
        #expect(longest <= Provider.longestQueue + Milliseconds(Provider.latency.upperBound))
    }

    @Test mutating func `the provider has capacity again after some time`() {
        var provider = Provider(daemons: 1_000_000)
        for daemon in 0..<10_000 { _ = provider.answer(from: daemon, at: 0, in: nil, using: &random) }

        let answer = provider.answer(from: 0, at: 60_000, in: nil, using: &random)

        #expect(answer.outcome == .granted)
        #expect(answer.after <= Milliseconds(Provider.latency.upperBound))
    }

    @Test mutating func `a rate limit grants its rate, and rejects the others with a Retry-After`() {
        var provider = Provider(daemons: 1_000_000)
        let limit = Spell.Kind.limited(perSecond: 100, retryAfter: .seconds(120))

        let answers = (0..<10_000).map { step in
            provider.answer(from: step, at: Milliseconds(step), in: limit, using: &random)
        }

        let granted = answers.count { $0.outcome == .granted }
        #expect((1_000...1_110).contains(granted))
        #expect(answers.allSatisfy { ($0.outcome == .granted) == ($0.retryAfter == nil) })
    }

    @Test mutating func `requests of disconnected daemons do not arrive, the others do`() {
        var provider = Provider(daemons: 1_000_000)
        let region = Spell.Kind.cutOff(share: 0.3)

        let answers = (0..<1_000).map { provider.answer(from: $0, at: 0, in: region, using: &random) }

        #expect(answers.count { !$0.hasArrived } == 300)
        #expect(answers.allSatisfy { $0.hasArrived == ($0.outcome == .granted) })
    }
}
