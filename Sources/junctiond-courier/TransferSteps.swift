import JunctionNetworkHelper

/// The current step of a transfer and its time limits. Times are milliseconds on the boot-time clock.
struct TransferSteps {
    private enum Step {
        case resolving
        case connecting
        case answering
    }

    private let limits: TransferLimits
    private var step = Step.resolving
    private let sendDeadline: Int64
    private var end: Int64
    private(set) var endOfWhole = Int64.max

    init(_ limits: TransferLimits, at now: Int64) {
        self.limits = limits
        sendDeadline = limits.sendDeadline == 0 ? .max : Int64(clamping: limits.sendDeadline)
        end = min(now + Int64(limits.resolve), sendDeadline)
    }

    var hasLeft: Bool { step == .answering }
    var deadline: Int64 { min(end, endOfWhole) }

    mutating func resolved(at now: Int64) {
        guard step == .resolving else { return }
        (step, end) = (.connecting, min(now + Int64(limits.connect), sendDeadline))
    }

    /// Records that the request is about to be sent. This can happen several times, because libcurl sends a repeatable
    /// request again when a kept connection turns out to be dead.
    ///
    /// - Returns: whether the send deadline has not passed.
    mutating func leaves(at now: Int64) -> Bool {
        guard now < sendDeadline else { return false }
        if !hasLeft, limits.whole > 0 { endOfWhole = now + Int64(limits.whole) }
        (step, end) = (.answering, now + Int64(limits.silence))
        return true
    }

    /// Records that bytes were sent or received.
    mutating func moved(at now: Int64) {
        if hasLeft { end = now + Int64(limits.silence) }
    }

    /// Returns the limit of the answer that was reached, in milliseconds.
    func limitOfAnswer(at now: Int64) -> UInt32 { now >= endOfWhole ? limits.whole : limits.silence }

    /// Returns the limit that has been reached.
    ///
    /// - Parameter isPaused: the daemon has granted no bytes, so nothing can move.
    func lateness(at now: Int64, isPaused: Bool) -> TransferFailure.Cause? {
        guard now >= (isPaused ? endOfWhole : deadline) else { return nil }
        return switch step {
        case .resolving: .resolvedTooLate
        case .connecting: .connectedTooLate
        case .answering: .answeredTooLate
        }
    }
}
