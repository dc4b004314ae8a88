import JunctionSystemd
import NIOCore

/// Sends the watchdog heartbeat to the service manager (`WatchdogSec=`) from the session's own event loop. If the loop
/// hangs, the heartbeats stop, and the service manager restarts the service.
enum Watchdog {
    /// The pause before the next heartbeat if the service manager was too busy to take the last one.
    private static let repetition = TimeAmount.seconds(1)

    /// - Parameters:
    ///   - limit: how long the service manager waits. A heartbeat comes twice in that time.
    ///   - giveSign: sends a heartbeat, and never waits.
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
