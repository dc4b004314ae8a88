import JunctionSession
import Testing

@testable import FleetSimulation

@Suite struct EventQueueTests {
    @Test func `events added in any order come out in the order of time`() {
        var agenda = EventQueue(until: 60_000)
        var random = Randomness(seed: 1)
        let times = (0..<1_000).map { _ in Milliseconds(random.next() % 60_000) }

        for (daemon, time) in times.enumerated() { agenda.add(.alarm, of: daemon, at: time) }

        var taken: [Milliseconds] = []
        while let entry = agenda.next() {
            #expect(times[entry.daemon] == entry.at)
            taken.append(entry.at)
        }
        #expect(taken == times.sorted())
    }

    @Test func `an event added for the current second is delivered in time`() {
        var agenda = EventQueue(until: 3_000)
        for (daemon, time) in [(0, 1_100), (1, 1_500), (2, 2_000)] {
            agenda.add(.alarm, of: daemon, at: Milliseconds(time))
        }

        #expect(agenda.next()?.daemon == 0)
        agenda.add(.answer, of: 3, at: 1_400)
        agenda.add(.answer, of: 4, at: 1_100)

        #expect(agenda.next() == EventQueue.Entry(at: 1_100, kind: .answer, daemon: 4))
        #expect(agenda.next()?.daemon == 3)
        #expect(agenda.next()?.daemon == 1)
        #expect(agenda.next()?.daemon == 2)
        #expect(agenda.next() == nil)
    }

    @Test func `an event after the end is dropped`() {
        var agenda = EventQueue(until: 2_000)

        agenda.add(.alarm, of: 1, at: 2_000)

        #expect(agenda.next() == nil)
    }
}
