@testable import JunctionSession

extension SessionOwner {
    /// Shuffles the steps of the two phases. Their order does not matter, and each process has its own.
    ///
    /// No other part of the simulation accesses the internals of the owner.
    nonisolated func shuffleSteps(seed: UInt64) {
        assumeIsolated { owner in
            var random = Randomness(seed: seed)
            owner.machine.ends.shuffle(using: &random)
            owner.machine.begins.shuffle(using: &random)
        }
    }
}
