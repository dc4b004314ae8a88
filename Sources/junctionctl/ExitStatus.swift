import JunctionClient
import JunctionProtocol

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
        self = error.code.flatMap(ErrorCode.init(rawValue:)).map(Self.init) ?? Self(localKind: error.kind)
    }

    private init(_ code: ErrorCode) {
        self =
            switch code {
            case .notSignedIn: .notSignedIn
            case .misconfigured: .configuration
            case .permissionDenied: .notPermitted
            case .reauthenticationRequired, .providerUnavailable, .storageUnavailable, .tokenExpired, .busy: .temporary
            case .alreadySignedIn, .invalidCredential, .sessionTerminated, .incompatibleCredential, .unsupported,
                .parseError, .invalidRequest, .methodNotFound, .invalidParams, .internalError:
                .refused
            }
    }

    private init(localKind kind: JunctionError.Kind) {
        self =
            switch kind {
            case .daemonUnreachable, .connectionLost: .unavailable
            case .permissionDenied: .notPermitted
            case .invalidSocketPath: .configuration
            case .timedOut, .localFailure: .temporary
            default: .refused
            }
    }
}
