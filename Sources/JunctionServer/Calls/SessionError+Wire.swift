import JunctionProtocol
import JunctionSession

extension WireError {
    init(_ refusal: SessionError) {
        self.init(
            ErrorCode(refusal.kind),
            refusal.message,
            retryAfter: refusal.retryAfter?.inSeconds,
            userId: refusal.userId,
            termination: refusal.termination.map(WireTermination.init),
            maximum: refusal.maximum?.inSeconds,
            remedy: refusal.remedy
        )
    }
}

extension ErrorCode {
    init(_ kind: SessionError.Kind) {
        self =
            switch kind {
            case .alreadySignedIn: .alreadySignedIn
            case .invalidCredential: .invalidCredential
            case .notSignedIn: .notSignedIn
            case .reauthenticationRequired: .reauthenticationRequired
            case .sessionTerminated: .sessionTerminated
            case .providerUnavailable: .providerUnavailable
            case .permissionDenied: .permissionDenied
            case .incompatibleCredential: .incompatibleCredential
            case .storageUnavailable: .storageUnavailable
            case .tokenExpired: .tokenExpired
            case .busy: .busy
            case .unsupported: .unsupported
            case .misconfigured: .misconfigured
            case .invalidParameters: .invalidParams
            }
    }
}

extension Duration {
    /// The duration in seconds, rounded to milliseconds.
    fileprivate var inSeconds: Double { Double(wholeMilliseconds) / 1_000 }
}
