/// Time and size limits of one transfer. Each step has its own limit, so that a slow name server leaves time for the
/// rest.
package struct TransferLimits: Equatable, Sendable {
    /// The most time to resolve the name, in milliseconds.
    package var resolve: UInt32
    /// The most time to connect after that, TLS and proxy included, in milliseconds.
    package var connect: UInt32
    /// The most time without any byte sent or received after the request begins to leave, in milliseconds.
    package var silence: UInt32
    /// The most time for the rest of the transfer after the request begins to leave, in milliseconds. Zero: no limit
    /// while bytes move.
    package var whole: UInt32
    /// The most bytes of the answer's body. Zero: no limit.
    package var longestAnswer: UInt64
    /// The request leaves before this time or not at all, in milliseconds since boot, suspend included. Zero: no
    /// deadline. It is a time and not a duration because a helper may start late, or be stopped before it sends the
    /// request.
    package var sendDeadline: UInt64

    package init(
        resolve: UInt32,
        connect: UInt32,
        silence: UInt32,
        whole: UInt32,
        longestAnswer: UInt64,
        sendDeadline: UInt64 = 0
    ) {
        self.resolve = resolve
        self.connect = connect
        self.silence = silence
        self.whole = whole
        self.longestAnswer = longestAnswer
        self.sendDeadline = sendDeadline
    }
}

extension TransferLimits {
    func write(into payload: inout Payload) {
        payload.append(resolve)
        payload.append(connect)
        payload.append(silence)
        payload.append(whole)
        payload.append(longestAnswer)
        payload.append(sendDeadline)
    }

    init(from reader: inout PayloadReader) throws(FormatFault) {
        resolve = try reader.number()
        connect = try reader.number()
        silence = try reader.number()
        whole = try reader.number()
        longestAnswer = try reader.number()
        sendDeadline = try reader.number()
    }
}
