public import JunctionProtocol

/// The states of the session, for `for try await`.
///
/// The `watch()` loops of one client share a connection and a thread, which end with the last loop. The `states()`
/// loops share another connection and thread.
public struct SnapshotUpdates: AsyncSequence, Sendable {
    private let watch: SharedWatch

    init(of watch: SharedWatch) {
        self.watch = watch
    }

    /// Makes an iterator that begins with the present snapshot.
    public func makeAsyncIterator() -> Iterator {
        Iterator(results: watch.updates().makeAsyncIterator(), changes: watch.changes)
    }

    /// Waits for one snapshot after the other.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var results: AsyncStream<Result<Snapshot, JunctionError>>.Iterator
        fileprivate let changes: SessionSubscribe.Changes
        private var last: Snapshot.State?

        fileprivate init(
            results: AsyncStream<Result<Snapshot, JunctionError>>.Iterator,
            changes: SessionSubscribe.Changes
        ) {
            (self.results, self.changes) = (results, changes)
        }

        /// Returns the next snapshot; `nil` after the task was cancelled.
        ///
        /// - Throws: errors that a new connection would not change, such as `permissionDenied`. If the daemon has gone,
        ///   `next` waits for it instead.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(JunctionError) -> Snapshot? {
            while let snapshot = try await results.next(isolation: actor)?.get() {
                // After a restart, the daemon begins with its present state, which may be the same.
                if changes == .state, snapshot.state == last { continue }
                last = snapshot.state
                return snapshot
            }
            return nil
        }
    }
}
