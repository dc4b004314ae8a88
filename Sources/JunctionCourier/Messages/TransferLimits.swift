/// What a transfer may cost. Each step has a limit of its own, so that a slow name server leaves time for the rest.
package struct TransferLimits: Equatable, Sendable {
    /// How long a name may take to be resolved, in milliseconds.
    package var resolve: UInt32
    /// How long connection and TLS may take together after it, in milliseconds; through a proxy, its part too.
    package var connect: UInt32
    /// How long nothing may move once the request leaves, in milliseconds.
    package var silence: UInt32
    /// How long the rest may take altogether once the request leaves, in milliseconds; zero: as long as something moves.
    package var whole: UInt32
    /// The most bytes of an answer's body; zero: any number.
    package var longestAnswer: UInt64
    /// The request leaves before this or not at all, in milliseconds since boot, suspend included; zero: whenever it can. A time
    /// and no length, because a courier may begin late, or be stopped before it does.
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
