import FoundationEssentials

/// What the sandbox remembers over a restart, of all vendors. Of tokens and codes it keeps fingerprints.
struct CloudState: Codable, Sendable {
    /// How far the sandbox's clock has been advanced, in seconds.
    var clockOffset = 0.0
    var users = Users()
    var logins = Logins()
    var proofs = Proofs()
    /// The largest sequence that each user of Sinch has used.
    var sequences: [String: UInt64] = [:]
    var clients = OAuthClients()
    var devices = DeviceGrants()
    var codes = AuthorizationCodes()
}

extension CloudState {
    /// Deletes a user, and ends the user's logins where the vendor does that.
    mutating func delete(_ user: User, at moment: Moment) {
        users[user.vendor, user.userId]?.isDeleted = true
        let loginsGoOn = user.vendor == .social || (user.vendor == .oauth && moment.settings.oauth.deletedRenews)
        guard !loginsGoOn else { return }
        users[user.vendor, user.userId]?.junction?.providers = []
        logins.endAll(of: user, because: .deleted, now: moment.now)
        logins.dropAccessTokens(of: user, now: moment.now)
    }
}
