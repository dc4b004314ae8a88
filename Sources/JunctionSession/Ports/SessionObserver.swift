/// Receives the events of the session for the log and the metrics, on the owner's executor.
package protocol SessionObserver: Sendable {
    func changed(_ snapshot: Snapshot)
    func happened(_ event: SessionEvent)
    /// Handles a completed step of a rotation. Tests end the process here.
    func reached(_ step: RotationStep)
}

/// The steps of a rotation or an approval in the owner. The store has its own steps between `answered` and `swapped`.
package enum RotationStep: String, Sendable, CaseIterable {
    /// The intent is on disk, or the disk has refused it. The request leaves next.
    case intentNoted
    /// The provider has answered. The answer is not on disk.
    case answered
    /// Other secrets are served than before: those of a new generation, which is on disk or refused by the disk, or those
    /// of the record at a start. No caller has been notified.
    case swapped
}
