import JunctionProtocol
import JunctionSession
import JunctionText

extension WireError {
    init(_ refusal: SessionError) {
        self.init(
            ErrorCode(refusal.kind),
            refusal.message,
            retryAfter: refusal.retryAfter?.inSeconds,
            userId: refusal.userId,
            termination: refusal.termination.map(WireTermination.init),
            maximum: refusal.maximum?.inSeconds,
            remedy: refusal.kind == .misconfigured ? Self.remedy(of: refusal) : refusal.remedy
        )
    }

    /// Names the unit. After a sign-in whose grant is kept, the remedy of the session says what to do with it.
    private static func remedy(of refusal: SessionError) -> String {
        guard let remedy = refusal.remedy, remedy != .signInAgainOnceCorrected else { return correction }
        return "\(correction); \(remedy)"
    }

    /// The provider's answer shows a wrong setting. While a user is signed in, a changed setting needs a restart.
    private static var correction: String {
        "correct the configuration here or at the provider; after a change here: systemctl restart "
            + "\(InstanceName.ofThisProcess.unit); then try again"
    }
}

extension ErrorCode {
    /// Every kind has the word of its code, except `invalidParameters`. `WireWordTests` compares them.
    init(_ kind: SessionError.Kind) {
        self = ErrorCode(kind: kind.rawValue) ?? .invalidParams
    }
}

extension Duration {
    /// The duration in seconds, rounded to milliseconds.
    fileprivate var inSeconds: Double { Double(wholeMilliseconds) / 1_000 }
}
