import JunctionClient

/// The exit status of the program, after `sysexits.h`.
enum ExitStatus: Int32 {
    case done = 0
    /// The daemon answered with an error.
    case refused = 1
    case notSignedIn = 3
    case usage = 64
    /// The daemon cannot be reached.
    case unavailable = 69
    /// A later try may succeed.
    case temporary = 75
    case notPermitted = 77
    case configuration = 78
}

extension ExitStatus {
    /// The exit status for an error of the daemon or of the connection.
    init(_ error: JunctionError) {
        self =
            switch error.kind {
            case .notSignedIn: .notSignedIn
            case .daemonUnreachable, .connectionLost: .unavailable
            case .reauthenticationRequired, .providerUnavailable, .storageUnavailable, .tokenExpired, .busy, .timedOut,
                .localFailure:
                .temporary
            case .permissionDenied: .notPermitted
            case .misconfigured, .invalidSocketPath: .configuration
            default: .refused
            }
    }
}
