import JunctionProtocol

/// Something that the daemon wants to know, and the way back for the answer.
struct DaemonRequest: Sendable {
    let call: Call
    private let id: RequestID
    // Whoever still thinks about an answer does not keep the connection open.
    private weak var socket: UnixSocket?

    init(_ call: Call, _ id: RequestID, on socket: UnixSocket) {
        self.call = call
        self.id = id.detached
        self.socket = socket
    }

    /// Answers, from any thread. A daemon that has gone does not want to know any more.
    func respond(_ outcome: Result<any WireValue, WireError>) {
        try? socket?.send(OutgoingLine.response(outcome, to: id))
    }
}
