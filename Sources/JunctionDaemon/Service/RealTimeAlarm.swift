import CLinux
import Glibc
package import JunctionSession
import Synchronization

/// The reason of a call by the alarm.
package enum AlarmSignal: Equatable, Sendable {
    /// The set time has come.
    case rang
    /// The wall clock was set, or the machine resumed from suspend. The alarm is still armed.
    case clockSet
}

/// The only alarm of the process, on the wall clock.
///
/// A thread of its own sleeps in the kernel until the set time comes or the wall clock is set. An event loop's timer
/// would be cheaper, but it stands still during suspend and does not follow the wall clock.
package final class RealTimeAlarm: SessionAlarm {
    private let timer: Int32
    private let call: @Sendable (AlarmSignal) -> Void
    private let thread: WaitingThread
    private let ending = Ending()
    private let isOpen = Mutex(true)

    /// Starts disarmed. From now on the alarm reports changes of the wall clock.
    ///
    /// - Parameter call: called on the alarm's own thread or on the thread that sets the alarm. It must only hand the
    ///   signal over.
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
        // The clock was set after the last ring, and `clinux_alarm_wait` does not report this change any more. The
        // alarm is armed.
        case ECANCELED: call(.clockSet)
        default: preconditionFailure("The alarm was set to a time that no timer takes (errno \(failure))")
        }
    }

    /// Stops the alarm, which makes no call after this returns. Do not call it on the alarm's own thread.
    package func shutDown() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        guard wasOpen else { return }
        ending.begin()
        // The thread wakes up only when the timer expires.
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
