package import Logging
import Synchronization

/// The least important level that is logged, shared by all loggers, so that a reload changes it for all of them.
package final class LogThreshold: Sendable {
    private let rank: Atomic<Int>

    package init(_ level: Logger.Level) {
        rank = Atomic(level.rank)
    }

    /// The level that is in force now.
    package var level: Logger.Level {
        get { Logger.Level.allCases[rank.load(ordering: .relaxed)] }
        set { rank.store(newValue.rank, ordering: .relaxed) }
    }
}

extension Logger.Level {
    /// From 0 for `trace` upwards.
    fileprivate var rank: Int { Logger.Level.allCases.firstIndex(of: self) ?? 0 }

    /// The priority that syslog and the journal know: 7 is for debugging, 2 is critical.
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
