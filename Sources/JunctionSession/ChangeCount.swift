import Synchronization

/// How often what the owner answers from has changed, or may have: who has prepared an answer may give it again for as long as
/// the count stays.
///
/// Reading it costs one load, which is why it stands outside the owner. It rises with the owner's stored values themselves, so
/// that no change can forget it. It says nothing about time: what ends by itself says until when it is good.
package final class ChangeCount: Sendable {
    private let count = Atomic<UInt64>(0)

    /// The present count; it means something in this process only.
    package var present: UInt64 { count.load(ordering: .relaxed) }

    func rise() { count.wrappingAdd(1, ordering: .relaxed) }
}
