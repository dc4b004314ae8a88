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
    /// Revoke at the provider the session of this user, or a partial grant, whose user is not known. Report
    /// `revocationEnded`.
    case revoke(Identity?, with: SecretRef)
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

/// One call to the provider. The machine drops an answer whose number it no longer wants.
package struct AttemptID: Hashable, Sendable {
    package var number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}
