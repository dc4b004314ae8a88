package import Logging
import Synchronization

/// The lowest level that is logged. All loggers share it, so that a reload changes it for all of them.
package final class LogThreshold: Sendable {
    private let rank: Atomic<Int>

    package init(_ level: Logger.Level) {
        rank = Atomic(level.rank)
    }

    package var level: Logger.Level {
        get { Logger.Level.allCases[rank.load(ordering: .relaxed)] }
        set { rank.store(newValue.rank, ordering: .relaxed) }
    }
}

extension Logger.Level {
    /// The rank of the level, from 0 for `trace` upwards.
    fileprivate var rank: Int { Logger.Level.allCases.firstIndex(of: self) ?? 0 }

    /// The priority in syslog and in the journal, from 2 (critical) to 7 (debugging).
    var priority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
