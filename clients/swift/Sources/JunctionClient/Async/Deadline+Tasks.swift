// Waits of tasks, which block no thread.
extension Deadline {
    /// Calls `action` at the deadline, unless the returned task is cancelled before.
    func timer(_ action: @escaping @Sendable () -> Void) -> Task<Void, Never>? {
        instant.map { instant in
            Task {
                guard (try? await Task.sleep(until: instant, clock: .continuous)) != nil else { return }
                action()
            }
        }
    }

    /// Waits for `pause`, at most until the deadline.
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
