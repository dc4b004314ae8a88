public import JunctionProtocol

/// The state of the session from now on, for `for try await`.
///
/// The loops of one client share a connection and a thread, which end with the last of them.
public struct SnapshotUpdates: AsyncSequence, Sendable {
    private let watch: SharedWatch

    init(of watch: SharedWatch) {
        self.watch = watch
    }

    /// Begins with the present snapshot.
    public func makeAsyncIterator() -> Iterator {
        Iterator(results: watch.updates().makeAsyncIterator())
    }

    /// Waits for one snapshot after the other.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var results: AsyncStream<Result<Snapshot, JunctionError>>.Iterator

        /// The next snapshot; `nil` once the task is cancelled.
        ///
        /// - Throws: what a new connection would not change, like `permissionDenied`. A daemon that has gone is
        ///   waited for instead.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(JunctionError) -> Snapshot? {
            try await results.next(isolation: actor)?.get()
        }
    }
}
