/// Who is told what happens to the session: the log, the metrics. Called on the owner's executor.
package protocol SessionObserver: Sendable {
    /// There is a new snapshot to announce.
    func changed(_ snapshot: Snapshot)
    /// Something worth a line in the log.
    func happened(_ event: SessionEvent)
    /// A step of the rotation is behind us. Tests end the process here.
    func reached(_ step: RotationStep)
}

/// The steps of a rotation, or of an approval, that the owner takes; the store has its own between `answered` and `swapped`.
package enum RotationStep: String, Sendable, CaseIterable {
    /// The intent is on disk, or the disk has refused it; the request leaves next.
    case intentNoted
    /// The provider has answered; nothing of it is on disk.
    case answered
    /// The new generation is on disk and in memory; nobody has been told.
    case swapped
}
