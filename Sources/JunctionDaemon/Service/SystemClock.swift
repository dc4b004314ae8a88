import CLinux
package import JunctionSession

/// The wall clock and the monotonic clock of this machine.
package struct SystemClock: SessionClock {
    package init() {}

    package func now() -> Moment {
        Moment(
            wall: WallTime(milliseconds: clinux_wall_milliseconds()),
            uptime: Uptime(milliseconds: clinux_boot_milliseconds())
        )
    }
}
