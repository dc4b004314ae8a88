import JunctionSystemd
import NIOCore

/// Gives the service manager the watchdog heartbeat it waits for (`WatchdogSec=`), from the session's own loop: when that hangs,
/// the signs stop, and the service is started anew.
enum Watchdog {
    /// How long until a sign is repeated that the service manager was too busy to take.
    private static let repetition = TimeAmount.seconds(1)

    /// - Parameters:
    ///   - limit: how long the service manager waits; a sign comes twice in that time.
    ///   - giveSign: tells the service manager, and never waits.
    static func begin(
        on loop: any EventLoop,
        limit: Duration,
        giveSign: @escaping @Sendable () -> Notifier.Delivery
    ) {
        let interval = TimeAmount(limit / 2)
        let next = giveSign() == .congested ? min(interval, repetition) : interval
        loop.scheduleTask(in: next) { begin(on: loop, limit: limit, giveSign: giveSign) }
    }
}
