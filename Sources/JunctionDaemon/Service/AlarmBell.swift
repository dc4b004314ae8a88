import JunctionSession

/// Carries the alarm's rings from its own thread to whoever listens on the event loop. What rings before somebody
/// listens is not lost: the session's owner needs the alarm before it can hear it.
struct AlarmBell: Sendable {
    private let rings: AsyncStream<AlarmSignal>
    private let rope: AsyncStream<AlarmSignal>.Continuation

    init() {
        (rings, rope) = AsyncStream.makeStream()
    }

    /// Rings, on any thread, and returns at once.
    func ring(_ signal: AlarmSignal) { rope.yield(signal) }

    /// Has every ring heard, in order, from now on. Called once.
    func listen(on tasks: any TaskExecutor, _ hear: @escaping @Sendable (AlarmSignal) async -> Void) {
        Task(executorPreference: tasks) { [rings] in
            for await signal in rings { await hear(signal) }
        }
    }

    /// Nobody listens any more. While the event loop still runs: this is a job for it.
    func fallSilent() { rope.finish() }
}
