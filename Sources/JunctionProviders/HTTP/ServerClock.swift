import JunctionSession

/// How far a server's clock is ahead of the local clock, as far as one of its answers shows.
struct ServerClock: Sendable {
    let skew: Duration

    init(skew: Duration) {
        self.skew = skew
    }

    /// Compares the `Date` of an answer with the local clock.
    ///
    /// The header names the whole second of the answer, at some time between sending and receiving. Only a difference
    /// that this cannot explain counts as skew, so two correct clocks have a skew of zero. Without the header the skew
    /// is zero, too.
    init(_ answer: HTTPAnswer, sentAt: WallTime, receivedAt: WallTime) {
        guard let second = answer.header("date").flatMap(HTTPDate.parse) else {
            skew = .zero
            return
        }
        let (least, most) = (second - receivedAt, second + .seconds(1) - sentAt)
        skew = max(least, min(most, .zero))
    }

    /// Converts a time on the server's clock to the local clock.
    func ours(_ time: WallTime) -> WallTime { time + (.zero - skew) }
}
