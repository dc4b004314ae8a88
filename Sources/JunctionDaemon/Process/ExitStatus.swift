/// How the daemon ends, in the words of `sysexits.h`.
package enum ExitStatus: Int32, Sendable {
    case success = 0
    /// The command line is wrong.
    case usage = 64
    /// A defect of the daemon itself.
    case `internal` = 70
    /// The socket or the state directory cannot be created.
    case cannotCreate = 73
    /// Another instance owns the socket or the state directory.
    case occupied = 75
    /// The configuration is wrong, or the stored session is another provider's.
    case configuration = 78
}
