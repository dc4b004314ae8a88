import JunctionProtocol

/// The calls that are made every second, answered from what was prepared.
extension Dispatcher {
    /// Answers a call at once. If anything speaks against that, nothing has happened, and the call takes the long way, which
    /// knows what to say.
    func answer(_ call: UsualCall, of connection: Connection) -> Bool {
        guard connection.may(call.kind.capability), !connection.isBusy, !connection.hasAskedEnough else { return false }
        switch call.kind {
        case .sessionStatus:
            guard prepared.withStatusForAll(of: owner, { connection.put($0, answering: call) }) else { return false }
        case .tokenGet:
            let generation = prepared.withServableToken(of: owner) { connection.put($0, answering: call) }
            guard let generation else { return false }
            handedOutToken(to: connection, generation)
        }
        counters.count(call.kind.method)
        return true
    }
}
