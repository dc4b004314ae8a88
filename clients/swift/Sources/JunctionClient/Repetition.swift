import JunctionProtocol

/// Decides whether a call is repeated after its connection was lost, for example because the daemon restarts.
///
/// A call is repeated only if it cannot take effect twice, or after another change: either the daemon did not take the
/// request, or the method is repeatable and the daemon has asked no question.
struct Repetition {
    private let isRepeatable: Bool
    private var backoff = Backoff()
    private var isUnderWay = false
    private var left = Self.most

    /// The most repetitions: enough for a restart that takes a second.
    static let most = 6

    init<Definition: MethodDefinition>(of method: Definition.Type, _ params: Definition.Params) {
        isRepeatable = Definition.isRepeatable(params)
    }

    /// Records that the daemon has asked a question and may act on the answer. From here on, a lost connection leaves
    /// the result of the call unknown.
    mutating func daemonAsked() {
        left = 0
    }

    /// Returns the pause before the call is repeated; `nil` if it must not be repeated.
    mutating func pause(after error: JunctionError) -> Duration? {
        guard isSafeToRepeat(after: error), left > 0 else { return nil }
        left -= 1
        isUnderWay = true
        return backoff.nextDelay(chance: .random(in: 0...1))
    }

    private func isSafeToRepeat(after error: JunctionError) -> Bool {
        if error.wasNotTaken { return true }
        if error.kind == .daemonUnreachable { return isUnderWay }
        return isRepeatable && error.kind == .connectionLost
    }
}
