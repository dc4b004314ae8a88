import JunctionProtocol
import JunctionSession

extension RenewalRequest {
    init(_ question: RenewalQuestion) {
        self.init(
            renewalId: String(question.attempt.number),
            reason: Reason(question.reason),
            // Only a credential that names its user causes a question, so there is no question without a user.
            userId: question.userId ?? "",
            expiresAt: question.expiresAt.map(Timestamp.init),
            deadline: Timestamp(question.deadline)
        )
    }
}

extension JunctionSession.RenewalAnswer {
    /// Makes the session's answer; `nil` if the handler is unable.
    init?(_ answer: WireRenewalAnswer) {
        switch answer {
        case .renew: self = .renew
        case .renewWithAuthToken(let token): self = .authToken(token.box)
        case .renewWithSignature(let signature, let sequence): self = .signature(signature.box, sequence: sequence)
        case .unableToRetrieveAuthToken: return nil
        }
    }
}
