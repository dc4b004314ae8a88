import JunctionClient

/// What the program ends with, after `sysexits.h`.
enum ExitStatus: Int32 {
    case done = 0
    /// The daemon answered with an error.
    case refused = 1
    case notSignedIn = 3
    case usage = 64
    /// There is no daemon.
    case unavailable = 69
    /// It may work later.
    case temporary = 75
    case notPermitted = 77
    case configuration = 78
}

extension ExitStatus {
    /// The exit code for an error of the daemon's, or of the way to it.
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
