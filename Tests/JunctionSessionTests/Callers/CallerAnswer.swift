import JunctionTesting

@testable import JunctionSession

/// The answer that a caller of the machine received.
enum CallerAnswer: Equatable {
    case done
    case identified(IdentifyOutcome)
    case token(TokenFacts)
    case authorized(generation: UInt64)
    case rejectionStands
    case retry
    case refused(SessionError)

    init(_ outcome: Reply.Outcome) {
        self =
            switch outcome {
            case .success(.done): .done
            case .success(.identified(let outcome)): .identified(outcome)
            case .success(.token(let token)): .token(token)
            case .success(.authorized(let generation)): .authorized(generation: generation)
            case .success(.rejectionStands): .rejectionStands
            case .success(.retry): .retry
            case .failure(let refusal): .refused(refusal)
            }
    }
}

/// The answer of a handler. The bench adds the name of the secret.
enum HandlerReply: Equatable, CaseIterable {
    case renew, credential, signature, unable
}
