/// How long somebody is waited for who sends or reads bit by bit: a while, and longer for what has come, so that whoever trickles
/// is not served for ever, and whoever has a slow line is.
struct WaitingBudget: Equatable {
    /// A second for so many bytes.
    static let bytesASecond = 1 << 14

    private let most: Duration
    /// For how long it may go on without a further byte.
    private(set) var left: Duration

    init(_ most: Duration) {
        (self.most, left) = (most, most)
    }

    var isSpent: Bool { left <= .zero }

    /// So long was waited, and so much came of it.
    mutating func waited(_ time: Duration, for bytes: Int) {
        let earned = Duration.seconds(Double(bytes) / Double(Self.bytesASecond))
        left = min(most, left - time + earned)
    }
}
