/// What the machine wants done. Deciding is over once it is returned; doing it decides nothing.
package enum Effect: Equatable, Sendable {
    /// Exchange the credential that came with a request; report `exchangeSucceeded` or `exchangeFailed`.
    case exchange(Attempt, credentialOf: RequestID, expecting: Identity?)
    /// Ask this handler; report `handlerAnswered`.
    case askHandler(HandlerID, RenewalQuestion)
    /// What a handler gave with its answer to this attempt is used by the exchange, or by the renewals, that follow.
    case keepAnswer(Attempt, for: AnswerUse)
    /// What a handler gave for this is not used any more.
    case forgetAnswer(for: AnswerUse)
    /// Keep these secrets for this revocation, whatever becomes of the session.
    case keepSecrets(SecretSource, for: RevocationID)
    /// Tell the provider that this user has signed out, with the secrets kept for it; report `revocationEnded`.
    case revoke(RevocationID, Identity)
    /// Give up the request by which the provider is told; report `revocationEnded` as ever.
    case interrupt(RevocationID)
    /// The secrets kept for this revocation are of no use any more.
    case forgetSecrets(of: RevocationID)
    /// Renew with the present session's secrets, or with what a handler gave; report `renewalSucceeded` or `renewalFailed`.
    case renew(Attempt)
    /// The attempt's answer is no longer wanted: drop it when it comes.
    case abandon(Attempt)
    /// The attempt's secrets are the secrets of this generation from now on.
    case adopt(Attempt, generation: UInt64)
    /// The API key that came with a request is the secret of this generation from now on.
    case adoptKey(of: RequestID, generation: UInt64)
    /// Seal and write; report `writeEnded`. Writes are carried out one at a time, in order.
    case write(WriteTicket, SessionRecord)
    /// Serve the secrets of this generation, and forget every older one.
    case activate(generation: UInt64)
    /// Forget every secret.
    case erase
    /// Ask the caller of this request for a credential; report `identifyAnswered`.
    case ask(RequestID, externalUserId: String)
    /// This request reached the network: count it against its caller.
    case charge(RequestID)
    case reply(RequestID, Reply)
    /// Something worth a line in the log and a count in the metrics.
    case report(Happening)
}

/// What handlers are asked for. A sign-in and a renewal may each have an answer at once.
package enum AnswerUse: Hashable, Sendable, CaseIterable {
    case renewal
    case exchange
}

/// Which of the secrets in memory are meant.
package enum SecretSource: Equatable, Sendable {
    /// Those that are served now.
    case present
    case generation(UInt64)
    /// What this attempt has brought, and no generation has adopted.
    case attempt(Attempt)
}

/// The answer to one request.
package enum Reply: Equatable, Sendable {
    /// It is done; the answer is the present snapshot.
    case done
    case identified(IdentifyOutcome)
    /// The access token of the active generation.
    case token(TokenFacts)
    /// The credential of the active generation for an API call (a token, or an API key, which has no life).
    case authorized(generation: UInt64)
    /// The API's 401 stands: there is no newer credential to try with.
    case rejectionStands
    case refused(Refusal)
}

/// What `session.identify` did.
package enum IdentifyOutcome: String, Equatable, Sendable {
    case unchanged
    case signedIn
    case switched
    case signedOut
}

/// What `session.reconcile` found.
package enum ReconcileAction: String, Equatable, Sendable {
    case none
    case signIn
    case signOut
    case `switch`
}

/// What just happened, for logs and metrics. Never a secret.
package enum Happening: Equatable, Sendable {
    case exchangeEnded(Outcome)
    case renewalEnded(Outcome)
    case signedOut
    /// The provider was never told of a sign-out; why, in words.
    case revocationGivenUp(String)
    case writeFailed(String)

    package enum Outcome: String, Sendable, CaseIterable {
        case succeeded
        case refused
        case unavailable
        case reauthenticationRequired
        case terminated
    }
}

/// One request of one caller, from arrival to its one answer.
package struct RequestID: Hashable, Sendable {
    package var number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}

/// One call to the provider. An answer that carries a number no longer wanted is dropped.
package struct Attempt: Hashable, Sendable {
    package var number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}

/// One sign-out that the provider is to hear of, over all its attempts.
package struct RevocationID: Hashable, Sendable {
    package var number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}

/// One write of the record.
package struct WriteTicket: Hashable, Sendable {
    package var number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}

/// Whether a caller may still reach the provider in this minute.
package enum Allowance: Equatable, Sendable {
    case granted
    case exhausted(retryAfter: Duration)
}
