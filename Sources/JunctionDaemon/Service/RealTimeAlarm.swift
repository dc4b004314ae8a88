import CLinux
import Glibc
package import JunctionSession
import Synchronization

/// Why the alarm called.
package enum AlarmSignal: Equatable, Sendable {
    /// The time has come.
    case rang
    /// The wall clock was set, or the machine resumed from suspend; the alarm is still armed.
    case clockSet
}

/// The one alarm of the process, on the wall clock.
///
/// A thread of its own sleeps in the kernel until the time has come or somebody sets the clock. An event loop's timer
/// would be cheaper, but it stands still while the machine is suspended and knows nothing of the wall clock.
package final class RealTimeAlarm: SessionAlarm {
    private let timer: Int32
    private let call: @Sendable (AlarmSignal) -> Void
    private let thread: WaitingThread
    private let ending = Ending()
    private let isOpen = Mutex(true)

    /// Starts disarmed, and hears of a changed clock from now on.
    ///
    /// - Parameter call: called on the alarm's own thread, or on the one that sets the alarm: it must only hand over.
    package init(calling call: @escaping @Sendable (AlarmSignal) -> Void) throws(SystemFailure) {
        let timer = clinux_alarm_create()
        guard timer >= 0 else { throw SystemFailure("create the alarm", errno: -timer) }
        let failure = clinux_alarm_disarm(timer)
        guard failure == 0 else {
            close(timer)
            throw SystemFailure("set the alarm", errno: failure)
        }
        do throws(SystemFailure) {
            thread = try WaitingThread { [ending] in RealTimeAlarm.wait(for: timer, until: ending, calling: call) }
        } catch {
            close(timer)
            throw error
        }
        self.timer = timer
        self.call = call
    }

    package func set(_ time: WallTime?) {
        let failure = isOpen.withLock { isOpen -> Int32 in
            guard isOpen else { return 0 }
            return if let time { clinux_alarm_set(timer, time.milliseconds) } else { clinux_alarm_disarm(timer) }
        }
        switch failure {
        case 0: break
        // The clock was set since the last ring, and the thread will not be told any more: the alarm itself is armed.
        case ECANCELED: call(.clockSet)
        default: preconditionFailure("The alarm was set to a time that no timer takes (errno \(failure))")
        }
    }

    /// Stops the alarm; it does not call any more once this returns. Not to be called on the alarm's own thread.
    package func shutDown() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        guard wasOpen else { return }
        ending.begin()
        // A ring is the only thing that the thread wakes up for.
        _ = clinux_alarm_set(timer, 0)
        thread.join()
        close(timer)
    }

    private static func wait(for timer: Int32, until ending: Ending, calling call: (AlarmSignal) -> Void) {
        while true {
            let outcome = clinux_alarm_wait(timer)
            if ending.hasBegun { return }
            switch outcome {
            case 0: call(.rang)
            case ECANCELED: call(.clockSet)
            default: preconditionFailure("The alarm's timer was closed under it (errno \(outcome))")
            }
        }
    }
}
