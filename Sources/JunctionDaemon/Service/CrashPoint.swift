import Glibc
import JunctionSession
import JunctionVault

/// Ends the process (SIGKILL) at one step of a rotation, so that a test can check the state after a restart.
///
/// Only test builds have it: a release does not read the variable.
struct CrashPoint: Sendable {
    /// `JUNCTIOND_CRASH_POINT=STEP`, or `STEP:N` for the N-th time that the process reaches the step.
    static let variable = "JUNCTIOND_CRASH_POINT"

    #if DEBUG
    private let step: String?
    private let countdown: Countdown

    init(variables: [String: String]) {
        let parts = (variables[Self.variable] ?? "").split(separator: ":")
        step = parts.first.map(String.init)
        countdown = Countdown(parts.count > 1 ? Int(parts[1]) ?? 1 : 1)
    }

    private func reached(_ name: String) {
        guard step == name, countdown.isOver() else { return }
        kill(getpid(), SIGKILL)
    }
    #else
    init(variables: [String: String]) {}

    private func reached(_ name: String) {}
    #endif

    func reached(_ step: RotationStep) { reached(step.rawValue) }
    func reached(_ step: VaultStep) { reached(step.rawValue) }
}

#if DEBUG
import Synchronization

private final class Countdown: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) {
        left = Mutex(count)
    }

    func isOver() -> Bool {
        left.withLock { left in
            left -= 1
            return left == 0
        }
    }
}
#endif
