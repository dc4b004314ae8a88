import FoundationEssentials

/// All that the page shows, as it is at one moment.
struct Overview: Encodable, Sendable {
    let now: Date
    let clockOffset: Double
    let settings: Settings
    let vendors: [VendorOverview]
    let faults: [Fault]
    let counters: Tally
    /// The newest first.
    let requests: [RequestLog.Numbered]
}

/// One vendor's users and logins, the newest first.
struct VendorOverview: Encodable, Sendable {
    /// As the daemon's configuration calls it.
    let vendor: String
    let title: String
    var configuration = ""
    var users: [ShownUser]
    var logins: [ShownLogin]
    var devices: [ShownDevice] = []

    /// More than that nobody reads, and a test may make thousands.
    static let longest = 50

    init(_ vendor: String, _ title: String, users: some Sequence<ShownUser>, logins: some Sequence<ShownLogin>) {
        self.vendor = vendor
        self.title = title
        self.users = Array(users.prefix(Self.longest))
        self.logins = Array(logins.sorted { $0.openedAt > $1.openedAt }.prefix(Self.longest))
    }
}

/// A user, and what can be done with it.
struct ShownUser: Encodable, Sendable {
    let id: String
    let name: String
    /// `active`, or what befell it.
    let standing: String
    let detail: String
    /// How many logins are alive.
    let logins: Int
    let actions: [ShownAction]
}

/// One call to a `/sandbox` endpoint, by `POST`.
struct ShownAction: Encodable, Sendable {
    let label: String
    let path: String
    var body: JSONValue?
}

/// A login, which most vendors call a session.
struct ShownLogin: Encodable, Sendable {
    let id: String
    /// Whose it is, by the name that people know.
    let user: String
    let detail: String
    let openedAt: Date
    let isAlive: Bool
    /// How many access tokens are good.
    let accessTokens: Int
    /// When the last of them ends.
    let expiresAt: Date?
    let story: LoginStory
}

/// A device that waits for a person's approval.
struct ShownDevice: Encodable, Sendable {
    let userCode: String
    let clientId: String
}

extension ShownAction {
    /// Calls that have the path in common, each with its last word.
    static func list(_ path: String, _ actions: KeyValuePairs<String, String>) -> [ShownAction] {
        actions.map { label, verb in ShownAction(label: label, path: "\(path)/\(verb)") }
    }
}
