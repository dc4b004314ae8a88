/// The wall clock and the monotonic clock of the machine, read together.
package protocol SessionClock: Sendable {
    func now() -> Moment
}

/// The one alarm of the process. Each setting replaces the previous one.
package protocol SessionAlarm: Sendable {
    /// Sets the alarm to `time`, or rings at once if that has passed. `nil` disarms it. The alarm also rings when the
    /// wall clock is set and when the machine resumes from suspend.
    func set(_ time: WallTime?)
}
