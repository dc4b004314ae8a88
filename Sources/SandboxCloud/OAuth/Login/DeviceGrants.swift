import FoundationEssentials

/// The devices that wait for a person's approval (RFC 8628).
struct DeviceGrants: Codable, Sendable {
    enum Decision: Codable, Equatable, Sendable {
        case pending
        case approved(by: String)
        case denied
        /// The tokens were fetched.
        case redeemed

        /// Its name in the `/sandbox` endpoints.
        var name: String {
            switch self {
            case .pending: "pending"
            case .approved: "approved"
            case .denied: "denied"
            case .redeemed: "redeemed"
            }
        }
    }

    /// What a device asked for.
    struct Wish: Codable, Sendable {
        let client: String
        let scopes: [String]
        let resources: [String]
        let challenge: String?
    }

    struct Device: Codable, Sendable {
        let userCode: String
        /// The fingerprint of the device code.
        let deviceCode: String
        let wish: Wish
        var expiresAt: Date
        /// Seconds between polls; each poll that comes too soon adds five, for good (§3.5).
        var interval: Double
        var decision = Decision.pending
        var polls = 0
        var lastPoll: Date?
    }

    /// The oldest first.
    private(set) var devices: [Device] = []

    /// Consonants only, so that no code is a word (§6.1).
    private static let letters = Array("BCDFGHJKLMNPQRSTVWXZ")

    /// A device's beginning.
    mutating func open(_ wish: Wish, on terms: OAuthTerms, now: Date) -> (deviceCode: String, userCode: String) {
        let deviceCode = TokenText.fresh("odc_")
        let half = { String((0..<4).map { _ in Self.letters.randomElement()! }) }
        let device = Device(
            userCode: half() + "-" + half(),
            deviceCode: TokenText.fingerprint(deviceCode),
            wish: wish,
            expiresAt: now + Double(terms.deviceCodeLifetime),
            interval: Double(terms.interval)
        )
        devices.append(device)
        return (deviceCode, device.userCode)
    }

    /// The device that shows this code; case, spaces and hyphens do not matter (§6.1).
    func find(_ userCode: String) -> Device? {
        let typed = Self.plain(userCode)
        return devices.last { Self.plain($0.userCode) == typed }
    }

    /// What a person decided. A code is good for one decision, while it lives.
    mutating func decide(_ decision: Decision, for userCode: String, now: Date) throws(OAuthRefusal) {
        guard let device = find(userCode), device.decision == .pending, now < device.expiresAt else {
            throw OAuthError.invalidRequest.because("the code is unknown, expired or used")
        }
        change(device) { $0.decision = decision }
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
    ) throws(OAuthRefusal) -> (wish: Wish, subject: String) {
        let shown = TokenText.fingerprint(deviceCode)
        guard let device = devices.first(where: { $0.deviceCode == shown }), device.wish.client == client else {
            throw OAuthError.invalidGrant.because("the device code is unknown or another client's")
        }
        let isTooSoon = device.lastPoll.map { now < $0 + device.interval } ?? false
        change(device) { device in
            device.polls += 1
            device.lastPoll = now
            if isTooSoon { device.interval += 5 }
        }
        if device.decision == .redeemed {
            throw OAuthError.invalidGrant.because("the device code was redeemed before")
        }
        guard now < device.expiresAt else {
            throw tellsExpiry
                ? OAuthError.expiredToken.because("the device code has expired")
                : OAuthError.authorizationPending.because("nobody has decided yet")
        }
        if isTooSoon { throw OAuthError.slowDown.because("wait five seconds longer between polls") }
        switch device.decision {
        case .pending: throw OAuthError.authorizationPending.because("nobody has decided yet")
        case .denied: throw OAuthError.accessDenied.because("the person said no")
        case .redeemed: throw OAuthError.invalidGrant.because("the device code was redeemed before")
        case .approved(let subject):
            if let challenge = device.wish.challenge { try PKCE.require(verifier, for: challenge) }
            change(device) { $0.decision = .redeemed }
            return (device.wish, subject)
        }
    }

    private mutating func change(_ device: Device, _ body: (inout Device) -> Void) {
        guard let index = devices.firstIndex(where: { $0.deviceCode == device.deviceCode }) else { return }
        body(&devices[index])
    }

    private static func plain(_ userCode: String) -> String {
        userCode.uppercased().filter(\.isLetter)
    }
}
