/// How long the daemon still waits for a peer that sends or reads slowly. Each byte adds time. So a peer that trickles
/// bytes is not served for ever, and a peer with a slow line is served.
struct WaitingBudget: Equatable {
    /// The number of bytes that add one second.
    static let bytesASecond = 1 << 14

    private let most: Duration
    /// The time that the peer may still take without another byte.
    private(set) var left: Duration

    init(_ most: Duration) {
        (self.most, left) = (most, most)
    }

    var isSpent: Bool { left <= .zero }

    /// Subtracts the time of waiting, and adds the time for the bytes that were read or sent.
    mutating func waited(_ time: Duration, for bytes: Int) {
        let earned = Duration.seconds(Double(bytes) / Double(Self.bytesASecond))
        left = min(most, left - time + earned)
    }
}
