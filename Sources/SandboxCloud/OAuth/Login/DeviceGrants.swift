import FoundationEssentials

/// The device sign-ins (RFC 8628).
struct DeviceGrants: Codable, Sendable {
    enum Decision: String, Codable, Sendable {
        case pending
        case approved
        case denied
        /// The client has fetched the tokens.
        case redeemed
    }

    struct Device: Codable, Sendable {
        let userCode: String
        let deviceCode: String
        let request: OAuthRequest
        var expiresAt: Date
        /// The seconds between two polls. Each poll that comes too soon adds five seconds permanently (§3.5).
        var interval: Double
        var decision = Decision.pending
        var user: String?
        var polls = 0
        var lastPoll: Date?
    }

    /// The oldest first.
    private(set) var all: [Device] = []

    /// Only consonants, so that no code is a word (§6.1).
    private static let letters = Array("BCDFGHJKLMNPQRSTVWXZ")

    /// Starts a device sign-in and returns its codes.
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

    /// Returns the device sign-in of a user code. Case, spaces and hyphens are ignored (§6.1).
    func find(_ userCode: String) -> Device? {
        let typed = Self.plain(userCode)
        return all.last { Self.plain($0.userCode) == typed }
    }

    /// Records the user's decision. A code accepts one decision, and only before it expires.
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

    mutating func expire(_ userCode: String, now: Date) {
        guard let device = find(userCode) else { return }
        change(device) { $0.expiresAt = min($0.expiresAt, now) }
    }

    /// Answers one poll. Returns the request and the user of an approved device, only once.
    ///
    /// A refused poll changes the state too: it counts, and it can increase the interval.
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
