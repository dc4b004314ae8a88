import FoundationEssentials

/// Everything that the page shows, at one moment.
struct Overview: Encodable, Sendable {
    let now: Date
    let clockOffset: Double
    let settings: GeneralSettings
    let vendors: [ShownVendor]
    /// Ordered by vendor, the newest first within a vendor.
    let users: [ShownUser]
    /// Ordered by vendor, the newest first within a vendor.
    let logins: [ShownLogin]
    let devices: [DeviceGrants.Device]
    let faults: [Fault]
    let counters: Tally
    /// The newest first.
    let requests: [RequestNote]

    /// The largest number of users, and of logins, that the page shows for each vendor. A test may create thousands.
    private static let longest = 50

    init(_ contents: Contents, at moment: Moment, of vendors: [any Vendor], origin: String) {
        let state = contents.state
        let names = vendors.map(\.name)
        now = moment.now
        clockOffset = moment.offset
        settings = contents.settings.general
        self.vendors = vendors.map { ShownVendor($0, origin: origin) }
        users = names.flatMap { state.shownUsers(of: $0, now: moment.now).suffix(Self.longest).reversed() }
        logins = names.flatMap { state.shownLogins(of: $0, now: moment.now).suffix(Self.longest).reversed() }
        let pending = state.devices.all.filter { $0.decision == .pending && moment.now < $0.expiresAt }
        devices = pending.suffix(Self.longest).reversed()
        faults = contents.faults
        counters = contents.tally
        requests = contents.requests.notes.suffix(40).reversed()
    }
}

/// A vendor and the actions that its users have.
struct ShownVendor: Encodable, Sendable {
    /// A `POST` request that a button sends.
    struct Action: Encodable, Sendable {
        let label: String
        /// The part of the path after the user.
        let verb: String
    }

    let vendor: VendorName
    let title: String
    let path: String
    let configuration: String
    let actions: [Action]

    init(_ vendor: any Vendor, origin: String) {
        self.vendor = vendor.name
        title = vendor.title
        path = "/\(vendor.name.drivingPath)/users"
        configuration = vendor.configuration(at: origin, keyFile: SandboxCloud.usualKeyFile).toml
        actions =
            vendor.credentials.map { Action(label: $0.key, verb: $0.value) }
            + UserEvent.allCases.map { Action(label: $0.label, verb: $0.rawValue) }
    }
}

/// An entry of the state, together with values that are derived from it at one moment.
struct Shown<Kept: Encodable & Sendable, Derived: Encodable & Sendable>: Encodable, Sendable {
    let kept: Kept
    let derived: Derived

    func encode(to encoder: any Encoder) throws {
        try kept.encode(to: encoder)
        try derived.encode(to: encoder)
    }
}

typealias ShownUser = Shown<User, UserDetails>
typealias ShownLogin = Shown<Login, LoginDetails>

struct UserDetails: Encodable, Sendable {
    /// `active`, `disabled` or `deleted`.
    let standing: String
    /// The number of logins that are alive.
    let logins: Int
}

struct LoginDetails: Encodable, Sendable {
    let user: String
    let isAlive: Bool
    /// The expiry times of the valid access tokens.
    let accessTokens: [Date]
}

extension CloudState {
    /// Returns the users of a vendor, the oldest first.
    func shownUsers(of vendor: VendorName, now: Date) -> [ShownUser] {
        let alive = shownLogins(of: vendor, now: now).filter(\.derived.isAlive)
        let counts = Dictionary(grouping: alive, by: \.kept.userId).mapValues(\.count)
        return users.all(of: vendor).map { user in
            let standing = user.isDeleted ? "deleted" : user.isDisabled ? "disabled" : "active"
            return Shown(kept: user, derived: UserDetails(standing: standing, logins: counts[user.userId] ?? 0))
        }
    }

    /// Returns the logins of a vendor, the oldest first.
    func shownLogins(of vendor: VendorName, now: Date) -> [ShownLogin] {
        let ends = logins.accessTokenEnds(now: now)
        return logins.all(of: vendor).map { login in
            let ends = ends[login.id, default: []].sorted()
            // A Sinch registration is alive without a token. A login without a refresh token lives as long as its
            // access tokens.
            let lives = login.current != nil || vendor == .sinch || !ends.isEmpty
            let details = LoginDetails(
                user: users[vendor, login.userId]?.name ?? login.userId,
                isAlive: lives && !login.isOver(now),
                accessTokens: ends
            )
            return Shown(kept: login, derived: details)
        }
    }
}
