import JunctionServer
import NIOCore
import NIOPosix
import Testing

@testable import JunctionDaemon

@Suite(.timeLimit(.minutes(10))) struct AlarmSignalsTests {
    @Test func `signals before the listener are delivered in order on the event loop`() throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let heard = Signals<(signal: AlarmSignal, isOnLoop: Bool)>()
        let alarmSignals = AlarmSignals()

        alarmSignals.send(.clockSet)
        alarmSignals.send(.rang)
        alarmSignals.listen(on: LoopExecutor(loop)) { heard.put(($0, loop.inEventLoop)) }
        alarmSignals.send(.clockSet)

        for expected in [AlarmSignal.clockSet, .rang, .clockSet] {
            let (signal, isOnLoop) = heard.take()
            #expect(signal == expected)
            #expect(isOnLoop)
        }
        alarmSignals.finish()
        try group.syncShutdownGracefully()
    }

    @Test func `after the end of the signals nothing is delivered and the event loop can end`() throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let heard = Signals<AlarmSignal>()
        let alarmSignals = AlarmSignals()
        alarmSignals.listen(on: LoopExecutor(group.next())) { heard.put($0) }

        alarmSignals.finish()
        alarmSignals.send(.rang)
        try group.syncShutdownGracefully()

        #expect(heard.count == 0)
    }
}
