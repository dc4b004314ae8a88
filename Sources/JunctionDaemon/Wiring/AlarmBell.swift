import JunctionSession
import NIOCore
import Synchronization

/// Carries the alarm's ring from its own thread to the owner on the event loop.
final class AlarmBell: Sendable {
    private let loop: any EventLoop
    private let listener = Mutex<SessionOwner?>(nil)

    init(_ loop: any EventLoop) {
        self.loop = loop
    }

    /// Who hears it; the owner needs the alarm first, so it comes later.
    var owner: SessionOwner? {
        get { listener.withLock { $0 } }
        set { listener.withLock { $0 = newValue } }
    }

    func ring(clockJumped: Bool) {
        loop.execute { [self] in
            owner?.assumeIsolated { $0.alarmRang(clockJumped: clockJumped) }
        }
    }
}
