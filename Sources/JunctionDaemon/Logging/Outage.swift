/// A period in which renewals fail: its beginning and the number of failures.
struct Outage: Equatable {
    private let began: ContinuousClock.Instant
    private(set) var failures = 1

    /// Begins with the first failure.
    init(beginning now: ContinuousClock.Instant) {
        began = now
    }

    mutating func goesOn() { failures += 1 }

    /// Returns the length so far, in whole seconds.
    func seconds(until now: ContinuousClock.Instant) -> Int64 { (now - began).components.seconds }
}
