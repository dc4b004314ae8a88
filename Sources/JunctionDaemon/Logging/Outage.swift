/// Since when, and how often, renewals have failed.
struct Outage: Equatable {
    private let began: ContinuousClock.Instant
    private(set) var failures = 1

    /// The first failure has just happened.
    init(beginning now: ContinuousClock.Instant) {
        began = now
    }

    /// One more failure.
    mutating func goesOn() { failures += 1 }

    /// How long it has lasted, in whole seconds.
    func seconds(until now: ContinuousClock.Instant) -> Int64 { (now - began).components.seconds }
}
