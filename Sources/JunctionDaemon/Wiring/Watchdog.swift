import JunctionSystemd
import NIOCore

/// Gives the service manager the sign of life it waits for (`WatchdogSec=`), from the session's own loop: when that hangs,
/// the signs stop, and the service is started anew.
enum Watchdog {
    /// How long until a sign is repeated that the service manager was too busy to take.
    private static let repetition = TimeAmount.seconds(1)

    /// - Parameter limit: how long the service manager waits; a sign comes twice in that time.
    static func begin(on loop: any EventLoop, limit: Duration, telling notifier: Notifier) {
        let interval = TimeAmount(limit / 2)
        guard notifier.tell(.alive) != .congested else {
            return wait(min(interval, repetition), on: loop, limit, notifier)
        }
        wait(interval, on: loop, limit, notifier)
    }

    private static func wait(_ time: TimeAmount, on loop: any EventLoop, _ limit: Duration, _ notifier: Notifier) {
        loop.scheduleTask(in: time) { begin(on: loop, limit: limit, telling: notifier) }
    }
}
