package import JunctionSecret

/// The provider's answer to a request for a device sign-in (RFC 8628 §3.2).
package struct DeviceAuthorization: Sendable {
    package var codes: DeviceCodes
    /// The time in which it can be approved, from the start of the request.
    package var life: Life
    package var interval: Duration

    package init(codes: DeviceCodes, life: Life, interval: Duration) {
        self.codes = codes
        self.life = life
        self.interval = interval
    }
}

/// The codes of one device sign-in. A reader of the user code could bind this device to another account. The codes are
/// therefore secret in logs, and for callers without the right to manage the session.
package struct DeviceCodes: Sendable {
    /// The code with which the daemon polls. Only the provider gets it.
    package var deviceCode: SharedSecret
    package var userCode: SharedSecret
    package var verificationUri: String
    /// The page with the user code in its address, if the provider has one.
    package var verificationUriComplete: SharedSecret?
    /// The origins to which the device code may be sent. `nil` if they are not fixed.
    package var endpointOrigins: EndpointOrigins?
    /// The issuer that issued the codes, if the provider has issuers. `nil` in a record of a release that did not store it.
    package var issuer: String?

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

/// The reason why a poll brought no session (RFC 8628 §3.5).
package enum PollFailure: Error, Equatable, Sendable {
    /// The person has not decided yet.
    ///
    /// - Parameter retryAfter: the pause that the answer demands, if it demands a longer one.
    case pending(retryAfter: Duration? = nil)
    /// The person has not decided yet, and the daemon has polled too fast.
    /// - Parameter retryAfter: the pause that the answer demands, if it demands a longer one.
    case slowDown(retryAfter: Duration? = nil)
    case denied
    /// The provider no longer accepts the code.
    case expired
    /// The provider refuses the code for another reason: it is unknown or spent.
    case refused(String)
    /// Any other failure. The code may still be approved.
    case unavailable(Unavailability)
}
