/// What the machine wants done. Deciding is over once it is returned; doing it decides nothing.
///
/// No effect steers what is kept in memory: each names the secrets that it needs, and what no part of the machine names
/// any more (`SessionMachine.secretsInUse`) is wiped after the event.
package enum Effect: Hashable, Sendable {
    /// Exchange the credential that came with a request, completed with what a handler gave where one was asked; report
    /// `exchangeSucceeded` or `exchangeFailed`.
    case exchange(Attempt, credentialOf: RequestID, completedWith: SecretRef?, expecting: Identity?)
    /// Ask the provider for the codes of a sign-in that a person approves; report `approvalBegan` or `exchangeFailed`.
    case authorize(Attempt, credentialOf: RequestID)
    /// Ask whether it was approved; report `exchangeSucceeded` or `pollFailed`.
    case poll(Attempt, with: SecretRef)
    /// Renew this user's session with its own secrets, or with what a handler gave; report `renewalSucceeded` or
    /// `renewalFailed`.
    case renew(Attempt, Identity, with: SecretRef, using: SecretRef?)
    /// Ask the provider whether it still knows this user's session; report `registrationChecked`.
    case checkRegistration(Attempt, Identity, with: SecretRef)
    /// Seal the record with exactly these secrets, the codes of a sign-in that awaits approval, and partial grants, and write
    /// it; report `writeEnded`. The next write is asked for when that has been reported, not before.
    case write(WriteTicket, SessionRecord, SecretRef?, codes: SecretRef?, partialGrants: [SecretRef])
    /// The grant of this sign-in is written, or the disk has refused it: the provider goes on. False: the sign-in has ended.
    case goOn(Attempt, Bool)
    /// Revoke this partial grant at the provider.
    case giveBack(SecretRef)
    /// Tell the provider that this user has signed out; report `revocationEnded`.
    case revoke(RevocationID, Identity, with: SecretRef)
    /// Cancel the request to revoke; `revocationEnded` is reported all the same.
    case interrupt(RevocationID)
    /// Ask this handler; report `handlerAnswered`.
    case askHandler(HandlerID, RenewalQuestion)
    /// Ask the caller of this request for a credential; report `identifyAnswered`.
    case ask(RequestID, externalUserId: ExternalUserId)
    case reply(Reply)
    /// Something worth a line in the log and a count in the metrics.
    case report(SessionEvent)
}

/// Names secrets that the owner keeps, without being them: all that the machine ever sees of a secret.
package struct SecretRef: Hashable, Sendable {
    package let number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}

/// What the provider granted, as the machine sees it: whose it is, how long it lives, and the name of its secrets.
package struct Granted: Hashable, Sendable {
    package var identity: Identity
    package var scheme: Scheme
    /// Absent where the session has no bearer token (an API key).
    package var life: Life?
    package var secrets: SecretRef

    package init(identity: Identity, scheme: Scheme, life: Life?, secrets: SecretRef) {
        self.identity = identity
        self.scheme = scheme
        self.life = life
        self.secrets = secrets
    }
}

/// A sign-in that awaits approval, as the machine sees it: the name of its codes, their life, and the pause between polls.
package struct ApprovalBegun: Hashable, Sendable {
    package var codes: SecretRef
    package var life: Life
    package var interval: Duration
    /// Who requested them.
    package var caller: LocalCaller?

    package init(codes: SecretRef, life: Life, interval: Duration, caller: LocalCaller? = nil) {
        self.codes = codes
        self.life = life
        self.interval = interval
        self.caller = caller
    }
}

/// What just happened, for logs and metrics. Never a secret.
package enum SessionEvent: Hashable, Sendable {
    /// With why, unless it succeeded.
    case exchangeEnded(Outcome, Unavailability? = nil)
    /// With why, unless it succeeded, and with the time of the next attempt, if that is known.
    case renewalEnded(Outcome, Unavailability? = nil, nextAttempt: WallTime? = nil)
    case signedOut
    /// The provider has forgotten the session, and a new registration is due.
    case registrationForgotten
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
