public import JunctionProtocol

/// The state of the session from now on, for `for try await`.
///
/// The `watch()` loops of one client share a connection and a thread, which end with the last of them. So do its `states()` loops.
public struct SnapshotUpdates: AsyncSequence, Sendable {
    private let watch: SharedWatch

    init(of watch: SharedWatch) {
        self.watch = watch
    }

    /// Begins with the present snapshot.
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

        /// The next snapshot; `nil` once the task is cancelled.
        ///
        /// - Throws: what a new connection would not change, like `permissionDenied`. A daemon that has gone is
        ///   waited for instead.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(JunctionError) -> Snapshot? {
            while let snapshot = try await results.next(isolation: actor)?.get() {
                // A daemon that was restarted begins with its present state, which may be the same.
                if changes == .state, snapshot.state == last { continue }
                last = snapshot.state
                return snapshot
            }
            return nil
        }
    }
}
