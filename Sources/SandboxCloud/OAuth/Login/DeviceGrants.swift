import FoundationEssentials

/// The devices that wait for a person's approval (RFC 8628).
struct DeviceGrants: Codable, Sendable {
    enum Decision: String, Codable, Sendable {
        case pending
        case approved
        case denied
        /// The tokens were fetched.
        case redeemed
    }

    struct Device: Codable, Sendable {
        let userCode: String
        /// The fingerprint of the device code.
        let deviceCode: String
        let request: OAuthRequest
        var expiresAt: Date
        /// Seconds between polls; each poll that comes too soon adds five, for good (§3.5).
        var interval: Double
        var decision = Decision.pending
        /// Who approved.
        var user: String?
        var polls = 0
        var lastPoll: Date?
    }

    /// The oldest first.
    private(set) var all: [Device] = []

    /// Consonants only, so that no code is a word (§6.1).
    private static let letters = Array("BCDFGHJKLMNPQRSTVWXZ")

    /// A device's beginning.
    mutating func open(
        _ request: OAuthRequest,
        on settings: OAuthSettings,
        now: Date
    ) -> (deviceCode: String, userCode: String) {
        let deviceCode = TokenText.fresh("odc_")
        let half = { String((0..<4).map { _ in Self.letters.randomElement()! }) }
        let device = Device(
            userCode: half() + "-" + half(),
            deviceCode: TokenText.fingerprint(deviceCode),
            request: request,
            expiresAt: now + Double(settings.deviceCodeLifetime),
            interval: Double(settings.interval)
        )
        all.append(device)
        return (deviceCode, device.userCode)
    }

    /// The device that shows this code; case, spaces and hyphens do not matter (§6.1).
    func find(_ userCode: String) -> Device? {
        let typed = Self.plain(userCode)
        return all.last { Self.plain($0.userCode) == typed }
    }

    /// What a person decided. A code is good for one decision, while it lives.
    mutating func decide(
        _ decision: Decision,
        by user: String? = nil,
        for userCode: String,
        now: Date
    ) throws(TokenRefusal) {
        guard let device = find(userCode), device.decision == .pending, now < device.expiresAt else {
            throw TokenError.invalidRequest.because("the code is unknown, expired or used")
        }
        change(device) { device in
            device.decision = decision
            device.user = user
        }
    }

    /// Lets a code expire at once.
    mutating func expire(_ userCode: String, now: Date) {
        guard let device = find(userCode) else { return }
        change(device) { $0.expiresAt = min($0.expiresAt, now) }
    }

    /// Answers one poll: the approved device and by whom, once only.
    ///
    /// A refusal is remembered too: that a poll came, and that it came too soon.
    mutating func poll(
        _ deviceCode: String,
        by client: String,
        verifier: String?,
        tellsExpiry: Bool,
        now: Date
    ) throws(TokenRefusal) -> (request: OAuthRequest, user: String) {
        let shown = TokenText.fingerprint(deviceCode)
        guard let device = all.first(where: { $0.deviceCode == shown }), device.request.clientId == client else {
            throw TokenError.invalidGrant.because("the device code is unknown or another client's")
        }
        let isTooSoon = device.lastPoll.map { now < $0 + device.interval } ?? false
        change(device) { device in
            device.polls += 1
            device.lastPoll = now
            if isTooSoon { device.interval += 5 }
        }
        if device.decision == .redeemed {
            throw TokenError.invalidGrant.because("the device code was redeemed before")
        }
        guard now < device.expiresAt else {
            throw tellsExpiry
                ? TokenError.expiredToken.because("the device code has expired")
                : TokenError.authorizationPending.because("nobody has decided yet")
        }
        if isTooSoon { throw TokenError.slowDown.because("wait five seconds longer between polls") }
        if device.decision == .denied { throw TokenError.accessDenied.because("the person said no") }
        guard let user = device.user else { throw TokenError.authorizationPending.because("nobody has decided yet") }
        if let challenge = device.request.challenge { try PKCE.require(verifier, for: challenge) }
        change(device) { $0.decision = .redeemed }
        return (device.request, user)
    }

    private mutating func change(_ device: Device, _ body: (inout Device) -> Void) {
        guard let index = all.firstIndex(where: { $0.deviceCode == device.deviceCode }) else { return }
        body(&all[index])
    }

    private static func plain(_ userCode: String) -> String {
        userCode.uppercased().filter(\.isLetter)
    }
}
