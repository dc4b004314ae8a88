import JunctionSession

/// How far a server's clock is ahead of ours, as far as one of its answers tells.
struct ServerClock: Sendable {
    let skew: Duration

    init(skew: Duration) {
        self.skew = skew
    }

    /// Compares the `Date` of an answer with our clock.
    ///
    /// The header names the whole second in which the server answered, some time between our sending and receiving.
    /// Only what this cannot explain is a difference of the clocks: two good ones are never corrected against each
    /// other. Without the header they are taken to agree.
    init(_ answer: HttpAnswer, sentAt: WallTime, receivedAt: WallTime) {
        guard let second = answer.header("date").flatMap(HttpDate.parse) else {
            skew = .zero
            return
        }
        let (least, most) = (second - receivedAt, second + .seconds(1) - sentAt)
        skew = max(least, min(most, .zero))
    }

    /// When it is on our clock what the server calls so.
    func ours(_ time: WallTime) -> WallTime { time + (.zero - skew) }
}
