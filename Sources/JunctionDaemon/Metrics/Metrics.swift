package import JunctionProviders
import JunctionServer
package import JunctionSession

/// Counters of session events since the start of the daemon. The server counts what happens on the sockets.
package struct Metrics: Sendable {
    private(set) var signOuts = 0
    private var exchanges = [SessionEvent.Outcome: Int]()
    private var renewals = [SessionEvent.Outcome: Int]()
    private var failures = [Unavailability.Cause: Int]()
    private(set) var providerRequests = DurationHistogram()
    /// How far the provider's clock is ahead, in milliseconds.
    private(set) var clockSkew: Int64 = 0
    private(set) var writesSucceeded = 0
    private(set) var writesFailed = 0

    package init() {}

    package mutating func writeEnded(durably: Bool) {
        if durably { writesSucceeded += 1 } else { writesFailed += 1 }
    }

    package mutating func requestEnded(_ reading: RequestMeter.Reading) {
        providerRequests.note(reading.duration)
        if let skew = reading.clockSkew { clockSkew = skew.wholeMilliseconds }
    }

    package mutating func happened(_ event: SessionEvent) {
        switch event {
        case .exchangeEnded(let outcome, _): exchanges[outcome, default: 0] += 1
        case .renewalEnded(let outcome, let failure, _):
            renewals[outcome, default: 0] += 1
            if let failure { failures[failure.cause, default: 0] += 1 }
        case .signedOut: signOuts += 1
        // `writeEnded` counts these, beside the writes that succeed.
        case .writeFailed: break
        // No metric: a line in the log is enough.
        case .registrationForgotten, .revocationGivenUp, .authorizationPageFailed: break
        }
    }

    func exchanges(_ outcome: SessionEvent.Outcome) -> Int { exchanges[outcome] ?? 0 }
    func failedRenewals(_ cause: Unavailability.Cause) -> Int { failures[cause] ?? 0 }
    func renewals(_ outcome: SessionEvent.Outcome) -> Int { renewals[outcome] ?? 0 }
}
