/// An action that the machine requests. All decisions are made before the machine returns it; the owner only performs
/// it.
///
/// No effect controls which secrets stay in memory. Each effect names the secrets that it needs. After the event, the
/// owner wipes every secret that no part of the machine names (`SessionMachine.secretsInUse`).
package enum Effect: Hashable, Sendable {
    /// Exchange the credential of a request, together with a handler's secret if there is one. Report
    /// `exchangeSucceeded` or `exchangeFailed`.
    case exchange(AttemptID, credentialOf: RequestID, completedWith: SecretRef?, expecting: Identity?)
    /// Request the codes of a device sign-in from the provider. Report `deviceSignInBegan` or `exchangeFailed`.
    case requestDeviceAuthorization(AttemptID, credentialOf: RequestID)
    /// Poll whether a person has approved the device sign-in. Report `exchangeSucceeded` or `pollFailed`.
    case poll(AttemptID, with: SecretRef)
    /// Renew this user's session with its own secrets, or with a handler's secret. Report `renewalSucceeded` or
    /// `renewalFailed`.
    case renew(AttemptID, Identity, with: SecretRef, using: SecretRef?)
    /// Ask the provider whether it still knows this user's session. Report `registrationChecked`.
    case checkRegistration(AttemptID, Identity, with: SecretRef)
    /// Seal the record with exactly these secrets, device codes and partial grants, and write it. Report `writeEnded`.
    /// The machine requests the next write only after that report.
    case write(
        SessionRecord,
        SecretRef?,
        codes: SecretRef?,
        partialGrants: [SecretRef],
        unopened: UnopenedRecords
    )
    /// Resume this sign-in or renewal, because the write of its partial grant has ended. The value is false if it is no
    /// longer wanted.
    case resumeProviderCall(AttemptID, Bool)
    case revokePartialGrant(SecretRef)
    /// Revoke this session at the provider. Report `revocationEnded`.
    case revoke(Identity, with: SecretRef)
    /// Cancel the revocation request. The owner still reports `revocationEnded`.
    case interruptRevocation
    /// Ask this handler. Report `handlerAnswered`.
    case askHandler(HandlerID, RenewalQuestion)
    /// Ask the caller of this request for a credential. Report `identifyAnswered`.
    case ask(RequestID, externalUserId: ExternalUserId)
    case reply(Reply)
    /// Write one log line and count it in the metrics.
    case report(SessionEvent)
}

/// The name of secrets that the owner keeps. The machine never sees the secrets themselves.
package struct SecretRef: Hashable, Sendable {
    package let number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}

/// A grant as the machine sees it: the user, the token's lifetime, and the name of its secrets.
package struct Granted: Hashable, Sendable {
    package var identity: Identity
    package var scheme: Scheme
    /// `nil` if the session has no bearer token (an API key).
    package var life: Life?
    package var secrets: SecretRef
    /// The reason why a renewal brought only a new refresh token. The other secrets are then the session's own.
    package var missingAccessToken: Unavailability?

    package init(
        identity: Identity,
        scheme: Scheme,
        life: Life?,
        secrets: SecretRef,
        missingAccessToken: Unavailability? = nil
    ) {
        self.identity = identity
        self.scheme = scheme
        self.life = life
        self.secrets = secrets
        self.missingAccessToken = missingAccessToken
    }
}

/// An event for logs and metrics. It never contains a secret.
package enum SessionEvent: Hashable, Sendable {
    /// The end of an exchange, with the reason unless it succeeded.
    case exchangeEnded(Outcome, Unavailability? = nil)
    /// The provider's page for a sign-in in a browser could not be found, for this reason.
    case authorizationPageFailed(Unavailability)
    /// The end of a renewal, with the reason unless it succeeded, and with the time of the next attempt if it is known.
    case renewalEnded(Outcome, Unavailability? = nil, nextAttempt: WallTime? = nil)
    case signedOut
    /// The provider has forgotten the session, and a new registration is due.
    case registrationForgotten
    /// A revocation was given up: the provider has not confirmed it. The value is the reason in words.
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

/// One call to the provider. The machine drops an answer whose number it no longer wants.
package struct AttemptID: Hashable, Sendable {
    package var number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}
