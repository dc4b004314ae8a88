import Synchronization

/// Assigns each sandbox its own port below the kernel's ephemeral range. So no other program takes the port while a
/// sandbox is stopped, and no daemon connects to the sandbox of another test.
enum LoopbackPort {
    private static let range = 15_000..<32_000
    private static let last = Mutex(Int.random(in: range))

    static func next() -> Int {
        last.withLock { last in
            last = last + 1 < range.upperBound ? last + 1 : range.lowerBound
            return last
        }
    }
}
