/// Both clocks of the machine, read together.
package protocol SessionClock: Sendable {
    func now() -> Moment
}

/// The one alarm of the process: armed again and again, never stacked.
package protocol SessionAlarm: Sendable {
    /// Rings at `time`, or at once when it has passed; `nil` disarms. It also rings when the wall clock is set and
    /// when the machine resumes from suspend.
    func set(_ time: WallTime?)
}
