import JunctionSession
import Testing

@testable import FleetSimulation

/// Small fleets: properties of the simulation, and of its figures.
@Suite struct FleetTests {
    private func figures(of scenario: Scenario, daemons: Int = 1_000, seed: UInt64 = 1) -> Figures {
        Contender.own.run(scenario, daemons, seed)
    }

    @Test func `the same seed gives the same figures, another seed gives others`() {
        let first = figures(of: .downTen)

        #expect(first == figures(of: .downTen))
        #expect(first != figures(of: .downTen, seed: 2))
    }

    @Test func `in steady state every token is renewed once, at its drawn time, without a wasted request`() {
        let figures = figures(of: .steady)

        // A million tokens of an hour, renewed after 65 % of it on average.
        #expect(abs(figures.mean - 427) < 43)
        #expect(figures.wasted == 0)
        #expect(figures.tokenlessHours == 0)
        #expect(figures.tokenless.allSatisfy { $0 == 0 })
    }

    @Test func `every user who signs in receives a token, and always has one`() {
        let figures = figures(of: .signIn)

        #expect(figures.requests[..<3_600].reduce(0, +) >= 1_000_000)
        #expect(figures.wasted == 0)
        #expect(figures.tokenlessHours == 0)
        #expect(figures.peak < 1_100)
    }

    @Test func `during an outage no daemon receives a token, after it every daemon does`() {
        let figures = figures(of: .downSixty)

        // From the twelfth minute to the end of the outage tokens expire, and none is granted.
        let during = figures.tokenless[650..<4_200]
        #expect(zip(during, during.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(figures.tokenless[4_199] > 900_000)
        #expect(figures.tokenless.last == 0)
        #expect(figures.tokenlessHours > figures.tokenlessHoursAfter)
    }

    @Test func `a daemon that reboots continues with its stored token`() {
        let (figures, undisturbed) = (figures(of: .halfReboots), figures(of: .steady))

        #expect(figures.wasted == 0)
        #expect(figures.tokenlessHours == 0)
        #expect(abs(figures.mean - undisturbed.mean) < 60)
    }

    @Test func `a disconnected daemon sends no request, and recovers after the disconnection`() {
        let figures = figures(of: .regionNetwork)

        #expect(figures.tokenless.max() == 300_000)
        #expect(figures.tokenless.last == 0)
    }

    @Test func `daemons that notice their network recover sooner, without a peak of requests`() {
        let told = figures(of: .regionNetwork, daemons: 4_000)
        let notTold = Contender.notTold.run(.regionNetwork, 4_000, 1)

        #expect(told.tokenlessHoursAfter < notTold.tokenlessHoursAfter * 0.85)
        #expect(told.peak < Provider.capacity * 1.2)
        #expect(told.wasted < 10_000)
    }

    @Test func `a rule alone has the same result as the machine with this rule`() {
        let machine = figures(of: .grantedTogether, daemons: 4_000)
        let rule = Contender(RuledDaemon<BlindBackoff>.self).run(.grantedTogether, 4_000, 1)

        // Without failures the backoff has no effect.
        #expect(machine.total == rule.total)
        #expect(abs(machine.peak - rule.peak) < 100)
    }

    @Test func `a peer's rule matches its documentation`() {
        var random = Randomness(seed: 1)

        let half = (0..<1_000).map { _ in HalfLife.renewalShare(using: &random) }
        let late = (0..<1_000).map { _ in LateShare.renewalShare(using: &random) }
        let delays = (1...12).map { LateShare.delay(afterFailures: $0, asked: nil, left: .zero, using: &random) }

        #expect(half.allSatisfy { (0.45...0.552).contains($0) })
        #expect(late.allSatisfy { (0.7...0.9).contains($0) })
        #expect((.seconds(2)...(.milliseconds(2_200))).contains(delays[0]))
        #expect(delays[4...].allSatisfy { $0 == .seconds(32) })
    }
}
