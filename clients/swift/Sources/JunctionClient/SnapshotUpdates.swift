public import JunctionProtocol

/// The state of the session from now on, for `for try await`.
///
/// Each loop has a connection and a thread of its own, which both end with the loop.
public struct SnapshotUpdates: AsyncSequence, Sendable {
    private let path: SocketPath
    private let backoff: Backoff

    init(from path: SocketPath, backoff: Backoff = Backoff()) {
        self.path = path
        self.backoff = backoff
    }

    /// Begins with the present snapshot.
    public func makeAsyncIterator() -> Iterator {
        Iterator(results: Self.results(from: path, backoff).makeAsyncIterator())
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

    private static func results(
        from path: SocketPath,
        _ backoff: Backoff
    ) -> AsyncStream<Result<Snapshot, JunctionError>> {
        .waitingOnThread { interruption, found throws(JunctionError) in
            let reconnection = Reconnection(to: path, patience: .always, backoff: backoff, unless: interruption)
            var feed = SnapshotFeed(reconnection)
            while true { found(try feed.next().value) }
        }
    }
}
