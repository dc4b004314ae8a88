@testable import JunctionSession

extension SessionOwner {
    /// Shuffles the parts of the two phases of a step: no order inside a phase matters, and each life has its own.
    ///
    /// Nothing else in the simulation sees the inside of the owner.
    nonisolated func shuffleSteps(seed: UInt64) {
        assumeIsolated { owner in
            var random = Randomness(seed: seed)
            owner.machine.ends.shuffle(using: &random)
            owner.machine.begins.shuffle(using: &random)
        }
    }
}
