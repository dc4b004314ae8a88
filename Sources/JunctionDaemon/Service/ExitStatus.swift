/// The exit status of the daemon, after `sysexits.h`.
package enum ExitStatus: Int32, Sendable {
    case success = 0
    /// The command line is wrong.
    case usage = 64
    /// A defect of the daemon itself.
    case `internal` = 70
    /// The socket or the state directory cannot be created.
    case cannotCreate = 73
    /// A later start may succeed: another instance owns the socket or the state directory, or the name service does not
    /// answer.
    case temporary = 75
    /// The configuration is wrong, or the stored session is another provider's.
    case configuration = 78
}
