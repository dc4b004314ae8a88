/// Until when a task waits for its call.
struct CallDeadline: Sendable {
    private let instant: ContinuousClock.Instant?

    /// So long from now; `nil`: as long as it takes.
    init(in limit: Duration?) {
        instant = limit.map { .now + $0 }
    }

    /// Whether the time is over.
    var hasPassed: Bool {
        instant.map { $0 <= .now } ?? false
    }

    /// Calls this at the deadline, unless it is cancelled before.
    func timer(_ action: @escaping @Sendable () -> Void) -> Task<Void, Never>? {
        instant.map { instant in
            Task {
                guard (try? await Task.sleep(until: instant, clock: .continuous)) != nil else { return }
                action()
            }
        }
    }

    /// Waits before the next attempt, unless there is no time for one.
    func sleep(for pause: Duration) async throws(JunctionError) {
        let then = ContinuousClock.Instant.now + pause
        do {
            try await Task.sleep(until: min(then, instant ?? then), clock: .continuous)
        } catch {
            throw .cancelled
        }
        if let instant, instant < then { throw .timedOut }
    }
}
