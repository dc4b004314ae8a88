import Synchronization

/// Counts the changes of the owner's state. A prepared answer stays valid as long as the count stays the same.
///
/// The count is outside the owner, so that reading it costs only one atomic load. Every change of what the owner
/// answers (the machine, the secrets, the snapshot) increments it. It says nothing about time: an answer that expires
/// carries its own end.
package final class ChangeCount: Sendable {
    private let count = Atomic<UInt64>(0)

    /// The present count. It is only comparable within one process.
    package var present: UInt64 { count.load(ordering: .relaxed) }

    func rise() { count.wrappingAdd(1, ordering: .relaxed) }
}
