import JunctionProtocol

/// A request of the daemon, and the connection for its answer.
struct DaemonRequest: Sendable {
    let call: Call
    private let id: RequestID
    // Weak, so that a pending answer does not keep the connection open.
    private weak var socket: UnixSocket?

    init(_ call: Call, _ id: RequestID, on socket: UnixSocket) {
        self.call = call
        self.id = id.detached
        self.socket = socket
    }

    /// Answers, from any thread. If the daemon has gone, the answer is dropped.
    func respond(_ outcome: Result<any WireValue, WireError>) {
        try? socket?.send(OutgoingLine.response(outcome, to: id))
    }
}
