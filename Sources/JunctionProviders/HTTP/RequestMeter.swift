package import JunctionSession

/// Measures the duration of each request and the difference between the server's clock and the local one.
package struct RequestMeter: Sendable {
    /// The measurement of one request, with or without an answer.
    package struct Reading: Equatable, Sendable {
        /// The time from the start of the request to its end.
        package var duration: Duration
        /// How far the server's clock is ahead of the local one; `nil` if the answer has no `Date`.
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

    /// Begins a measurement. The caller must call the returned function when the request ends.
    func begin() -> @Sendable (HTTPAnswer?) -> Void {
        let (clock, report) = (clock, report)
        let began = clock.now()
        return { answer in
            let now = clock.now()
            var reading = Reading(duration: now.uptime - began.uptime)
            if let answer, answer.header("date").flatMap(HTTPDate.parse) != nil {
                reading.clockSkew = ServerClock(answer, sentAt: began.wall, receivedAt: now.wall).skew
            }
            report(reading)
        }
    }
}
