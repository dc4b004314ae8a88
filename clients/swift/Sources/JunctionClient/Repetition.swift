import JunctionProtocol

/// Whether a call is made once more after its connection was lost, which is what happens while the daemon restarts.
///
/// Only where that cannot do a thing twice, nor after something else that was done meanwhile: the daemon did not take the
/// request, or asking twice is the same as once and the daemon has asked nothing back.
struct Repetition {
    private let isRepeatable: Bool
    private var backoff = Backoff()
    private var isUnderWay = false
    private var left = Self.most

    /// Enough for a second in which the daemon ends and begins.
    static let most = 6

    init<Definition: MethodDefinition>(of method: Definition.Type, _ params: Definition.Params) {
        isRepeatable = Definition.isRepeatable(params)
    }

    /// The daemon asks something back, and may act on the answer: from here on what becomes of the call is unknown once
    /// the connection is lost.
    mutating func daemonAsked() {
        left = 0
    }

    /// How long to wait before the call is made again; nil when the error stands.
    mutating func pause(after error: JunctionError) -> Duration? {
        guard isHarmless(after: error), left > 0 else { return nil }
        left -= 1
        isUnderWay = true
        return backoff.nextDelay(chance: .random(in: 0...1))
    }

    private func isHarmless(after error: JunctionError) -> Bool {
        if error.wasNotTaken { return true }
        if error.kind == .daemonUnreachable { return isUnderWay }
        return isRepeatable && error.kind == .connectionLost
    }
}
