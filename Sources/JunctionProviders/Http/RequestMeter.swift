package import JunctionSession

/// Tells whoever counts how long each request took, and how far its server's clock is from ours.
package struct RequestMeter: Sendable {
    /// One request, answered or not.
    package struct Reading: Equatable, Sendable {
        /// From when it was asked for to its end.
        package var duration: Duration
        /// How far the server's clock is ahead of ours; nothing where its answer does not tell.
        package var clockSkew: Duration?

        package init(duration: Duration, clockSkew: Duration? = nil) {
            (self.duration, self.clockSkew) = (duration, clockSkew)
        }
    }

    private let clock: any SessionClock
    private let report: @Sendable (Reading) -> Void

    /// - Parameter report: called on the event loop.
    package init(clock: any SessionClock, report: @escaping @Sendable (Reading) -> Void) {
        (self.clock, self.report) = (clock, report)
    }

    /// Begins to measure; what it gives back is called with the end.
    func begin() -> @Sendable (HttpAnswer?) -> Void {
        let (clock, report) = (clock, report)
        let began = clock.now()
        return { answer in
            let now = clock.now()
            var reading = Reading(duration: now.uptime - began.uptime)
            if let answer, answer.header("date").flatMap(HttpDate.parse) != nil {
                reading.clockSkew = ServerClock(answer, sentAt: began.wall, receivedAt: now.wall).skew
            }
            report(reading)
        }
    }
}
