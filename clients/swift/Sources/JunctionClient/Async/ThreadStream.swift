extension AsyncStream {
    /// Whatever a thread of its own waits for, until it fails; a task that is slow gets the newest only.
    ///
    /// - Parameter wait: waits for one thing after the other, until the interruption comes, which is when nobody wants
    ///   any more of them.
    static func waitingOnThread<Value: Sendable>(
        _ wait: @escaping @Sendable (Interruption, _ found: (Value) -> Void) throws(JunctionError) -> Void
    ) -> AsyncStream where Element == Result<Value, JunctionError> {
        let (results, continuation) = makeStream(bufferingPolicy: .bufferingNewest(1))
        do throws(JunctionError) {
            let bell = try Bell()
            continuation.onTermination = { _ in bell.ring() }
            try startThread {
                do throws(JunctionError) {
                    try wait(.ringing(bell)) { continuation.yield(.success($0)) }
                } catch {
                    if error.kind != .cancelled { continuation.yield(.failure(error)) }
                }
                continuation.finish()
            }
        } catch {
            continuation.yield(.failure(error))
            continuation.finish()
        }
        return results
    }
}
