import JunctionSession
import Testing

@testable import FleetSimulation

@Suite struct EventQueueTests {
    @Test func `events added in any order come out in the order of time`() {
        var eventQueue = EventQueue(until: 60_000)
        var random = Randomness(seed: 1)
        let times = (0..<1_000).map { _ in Milliseconds(random.next() % 60_000) }

        for (daemon, time) in times.enumerated() { eventQueue.add(.alarm, of: daemon, at: time) }

        var taken: [Milliseconds] = []
        while let entry = eventQueue.next() {
            #expect(times[entry.daemon] == entry.at)
            taken.append(entry.at)
        }
        #expect(taken == times.sorted())
    }

    @Test func `an event added for the current second is delivered in time`() {
        var eventQueue = EventQueue(until: 3_000)
        for (daemon, time) in [(0, 1_100), (1, 1_500), (2, 2_000)] {
            eventQueue.add(.alarm, of: daemon, at: Milliseconds(time))
        }

        #expect(eventQueue.next()?.daemon == 0)
        eventQueue.add(.answer, of: 3, at: 1_400)
        eventQueue.add(.answer, of: 4, at: 1_100)

        #expect(eventQueue.next() == EventQueue.Entry(at: 1_100, kind: .answer, daemon: 4))
        #expect(eventQueue.next()?.daemon == 3)
        #expect(eventQueue.next()?.daemon == 1)
        #expect(eventQueue.next()?.daemon == 2)
        #expect(eventQueue.next() == nil)
    }

    @Test func `an event after the end is dropped`() {
        var eventQueue = EventQueue(until: 2_000)

        eventQueue.add(.alarm, of: 1, at: 2_000)

        #expect(eventQueue.next() == nil)
    }
}
