import JunctionCourier

/// How far a transfer has come, and what that step may take. Times are milliseconds on the clock that never steps.
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

    /// The request leaves now, maybe for the second time: a kept connection may turn out to be dead.
    ///
    /// - Returns: whether it still may.
    mutating func leaves(at now: Int64) -> Bool {
        guard now < sendDeadline else { return false }
        if !hasLeft, limits.whole > 0 { endOfWhole = now + Int64(limits.whole) }
        (step, end) = (.answering, now + Int64(limits.silence))
        return true
    }

    /// Something came or went.
    mutating func moved(at now: Int64) {
        if hasLeft { end = now + Int64(limits.silence) }
    }

    /// Which of both limits of an answer it is that was reached, in milliseconds.
    func limitOfAnswer(at now: Int64) -> UInt32 { now >= endOfWhole ? limits.whole : limits.silence }

    /// Which limit has been reached.
    ///
    /// - Parameter isPaused: the daemon has no space, so nothing can move.
    func lateness(at now: Int64, isPaused: Bool) -> TransferFailure.Cause? {
        guard now >= (isPaused ? endOfWhole : deadline) else { return nil }
        return switch step {
        case .resolving: .resolvedTooLate
        case .connecting: .connectedTooLate
        case .answering: .answeredTooLate
        }
    }
}
