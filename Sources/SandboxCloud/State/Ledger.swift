import FoundationEssentials
import Synchronization

/// Holds the cloud's state, tells it the time, and writes each change to the state file before anyone hears of it.
final class Ledger: Sendable {
    private let state: Mutex<CloudState>
    private let file: StateFile?
    private let bell: Bell
    private let wallClock: @Sendable () -> Date

    init(file: StateFile?, bell: Bell, wallClock: @escaping @Sendable () -> Date) throws {
        self.file = file
        self.bell = bell
        self.wallClock = wallClock
        state = Mutex(try file?.load() ?? CloudState())
    }

    /// The time on the cloud's own clock.
    var now: Date {
        state.withLock { wallClock() + $0.clockOffset }
    }

    func read<Answer: Sendable>(_ body: (CloudState, Date) throws -> Answer) rethrows -> Answer {
        try state.withLock { try body($0, wallClock() + $0.clockOffset) }
    }

    /// Changes the state; if the body throws or the file cannot be written, nothing has changed.
    func change<Answer: Sendable>(_ body: (inout CloudState, Date) throws -> Answer) throws -> Answer {
        let answer = try state.withLock { state in
            var next = state
            let answer = try body(&next, wallClock() + next.clockOffset)
            try file?.save(next)
            state = next
            return answer
        }
        bell.ring()
        return answer
    }
}
