import Foundation
import JunctionSession
import Testing

@testable import JunctionDaemon

@Suite(.timeLimit(.minutes(10))) struct RealTimeAlarmTests {
    @Test func `a time that has passed rings at once`() throws {
        let alarmSignals = Signals<AlarmSignal>()
        let alarm = try RealTimeAlarm { alarmSignals.put($0) }
        defer { alarm.shutDown() }

        alarm.set(SystemClock().now().wall + .seconds(-3_600))

        #expect(alarmSignals.take() == .rang)
    }

    @Test(arguments: [Int64.min, -1, 0, 1])
    func `a time around or before 1970 rings at once`(milliseconds: Int64) throws {
        let alarmSignals = Signals<AlarmSignal>()
        let alarm = try RealTimeAlarm { alarmSignals.put($0) }
        defer { alarm.shutDown() }

        alarm.set(WallTime(milliseconds: milliseconds))

        #expect(alarmSignals.take() == .rang)
    }

    @Test func `an alarm rings at its time and not earlier`() throws {
        let alarmSignals = Signals<AlarmSignal>()
        let alarm = try RealTimeAlarm { alarmSignals.put($0) }
        defer { alarm.shutDown() }
        let time = SystemClock().now().wall + .milliseconds(20)

        alarm.set(time)

        #expect(alarmSignals.take() == .rang)
        #expect(SystemClock().now().wall >= time)
    }

    @Test func `an alarm that is set several times rings for the last time only`() throws {
        let alarmSignals = Signals<AlarmSignal>()
        let alarm = try RealTimeAlarm { alarmSignals.put($0) }
        let now = SystemClock().now().wall

        alarm.set(now + .seconds(3_600))
        alarm.set(WallTime(milliseconds: .max))
        alarm.set(now + .milliseconds(5))
        #expect(alarmSignals.take() == .rang)

        alarm.set(now + .seconds(3_600))
        alarm.set(nil)
        alarm.shutDown()
        #expect(alarmSignals.count == 0)
    }

    @Test func `an alarm rings again each time it is set`() throws {
        let alarmSignals = Signals<AlarmSignal>()
        let alarm = try RealTimeAlarm { alarmSignals.put($0) }
        defer { alarm.shutDown() }

        for _ in 0..<100 {
            alarm.set(WallTime(milliseconds: 0))
            #expect(alarmSignals.take() == .rang)
        }
    }

    @Test func `an alarm does not ring after its shutdown`() throws {
        let alarmSignals = Signals<AlarmSignal>()
        let alarm = try RealTimeAlarm { alarmSignals.put($0) }

        alarm.shutDown()
        alarm.set(WallTime(milliseconds: 0))
        alarm.shutDown()

        #expect(alarmSignals.count == 0)
    }

    @Test func `the system clock reads the wall clock and the monotonic clock`() {
        let first = SystemClock().now()
        let second = SystemClock().now()

        #expect(second.uptime >= first.uptime)
        #expect(first.uptime.milliseconds > 0)
        let reference = Int64(Date().timeIntervalSince1970 * 1_000)
        #expect(abs(second.wall.milliseconds - reference) < 60_000)
    }
}
