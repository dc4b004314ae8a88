package import JunctionSecret

/// What the provider gave for a sign-in that a person approves on another screen (RFC 8628 §3.2).
package struct DeviceAuthorization: Sendable {
    package var codes: DeviceCodes
    /// For how long it can be approved, from the start of the request.
    package var life: Life
    /// The pause between two polls.
    package var interval: Duration

    package init(codes: DeviceCodes, life: Life, interval: Duration) {
        self.codes = codes
        self.life = life
        self.interval = interval
    }
}

/// The codes of one device authorization. Whoever reads the user code could bind this device to an account of their own:
/// it is a secret for logs, and for callers who may not manage the session.
package struct DeviceCodes: Sendable {
    /// What polls are made with; nobody but the provider ever sees it.
    package var deviceCode: SharedSecret
    /// What a person types.
    package var userCode: SharedSecret
    /// Where.
    package var verificationUri: String
    /// The same with the user code in it, where the provider has that.
    package var verificationUriComplete: SharedSecret?
    /// Where the device code may be sent; `nil` where nothing is fixed.
    package var endpointOrigins: EndpointOrigins?

    package init(
        deviceCode: SharedSecret,
        userCode: SharedSecret,
        verificationUri: String,
        verificationUriComplete: SharedSecret? = nil
    ) {
        self.deviceCode = deviceCode
        self.userCode = userCode
        self.verificationUri = verificationUri
        self.verificationUriComplete = verificationUriComplete
    }
}

/// Why a poll brought no session (RFC 8628 §3.5).
package enum PollFailure: Error, Equatable, Sendable {
    /// Nobody has decided yet.
    case pending
    /// The same, and the polls came too fast.
    case slowDown
    /// A person has said no.
    case denied
    /// The provider does not take the code any more.
    case expired
    /// The provider refuses the code for another reason: it is unknown, or spent.
    case refused(String)
    /// Everything else; the code may still be approved.
    case unavailable(Unavailability)
}
