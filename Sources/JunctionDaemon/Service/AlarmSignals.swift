import JunctionSession

/// Carries the alarm's signals from the alarm's thread to a listener on the event loop. It keeps signals that come
/// before there is a listener: the session's owner needs the alarm before it can listen.
struct AlarmSignals: Sendable {
    private let rings: AsyncStream<AlarmSignal>
    private let rope: AsyncStream<AlarmSignal>.Continuation

    init() {
        (rings, rope) = AsyncStream.makeStream()
    }

    /// Passes a signal on. It can be called on any thread, and returns at once.
    func ring(_ signal: AlarmSignal) { rope.yield(signal) }

    /// Calls `hear` for every signal, in order. Call it once.
    func listen(on tasks: any TaskExecutor, _ hear: @escaping @Sendable (AlarmSignal) async -> Void) {
        Task(executorPreference: tasks) { [rings] in
            for await signal in rings { await hear(signal) }
        }
    }

    /// Ends the signals. Call it while the event loop still runs, because the listener's task ends on that loop.
    func finishSignals() { rope.finish() }
}
