extension AsyncStream {
    /// Makes a stream of the values that a separate thread waits for, until the wait fails. A slow task receives only
    /// the newest value.
    ///
    /// - Parameter wait: waits for one value after the other until the interruption comes, which means that the stream
    ///   has ended.
    static func waitingOnThread<Value: Sendable>(
        _ wait: @escaping @Sendable (Interruption, _ found: (Value) -> Void) throws(JunctionError) -> Void
    ) -> AsyncStream where Element == Result<Value, JunctionError> {
        let (results, continuation) = makeStream(bufferingPolicy: .bufferingNewest(1))
        do throws(JunctionError) {
            let wakeUp = try WakeUpDescriptor()
            continuation.onTermination = { _ in wakeUp.ring() }
            try startThread {
                do throws(JunctionError) {
                    try wait(.ringing(wakeUp)) { continuation.yield(.success($0)) }
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
