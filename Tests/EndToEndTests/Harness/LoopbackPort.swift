import Synchronization

/// A port for each sandbox, below those that the kernel hands out: while a sandbox is down, nobody else gets its port, and
/// no daemon talks with the sandbox of another test.
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
