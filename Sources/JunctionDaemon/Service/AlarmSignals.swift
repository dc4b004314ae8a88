import JunctionSession

/// Carries the alarm's signals from the alarm's thread to a listener on the event loop. It keeps signals that come
/// before there is a listener: the session's owner needs the alarm before it can listen.
struct AlarmSignals: Sendable {
    private let signals: AsyncStream<AlarmSignal>
    private let continuation: AsyncStream<AlarmSignal>.Continuation

    init() {
        (signals, continuation) = AsyncStream.makeStream()
    }

    /// Passes a signal on. It can be called on any thread, and returns at once.
    func send(_ signal: AlarmSignal) { continuation.yield(signal) }

    /// Calls `receive` for every signal, in order. Call it once.
    func listen(on tasks: any TaskExecutor, _ receive: @escaping @Sendable (AlarmSignal) async -> Void) {
        Task(executorPreference: tasks) { [signals] in
            for await signal in signals { await receive(signal) }
        }
    }

    /// Ends the signals. Call it while the event loop still runs, because the listener's task ends on that loop.
    func finish() { continuation.finish() }
}
