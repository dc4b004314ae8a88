import FoundationEssentials

/// The state of all vendors that survives a restart. It contains fingerprints of tokens and codes, not the values.
struct CloudState: Codable, Sendable {
    /// The offset of the sandbox's clock, in seconds.
    var clockOffset = 0.0
    var users = Users()
    var logins = Logins()
    var proofs = Proofs()
    /// The largest sequence that each Sinch user has used.
    var sequences: [String: UInt64] = [:]
    var clients = OAuthClients()
    var devices = DeviceGrants()
    var codes = AuthorizationCodes()
}

extension CloudState {
    /// Deletes a user, and ends the user's logins if the vendor does so.
    mutating func delete(_ user: User, at moment: Moment) {
        users[user.vendor, user.userId]?.isDeleted = true
        let loginsGoOn = user.vendor == .social || (user.vendor == .oauth && moment.settings.oauth.deletedRenews)
        guard !loginsGoOn else { return }
        users[user.vendor, user.userId]?.junction?.providers = []
        logins.endAll(of: user, because: .deleted, now: moment.now)
        logins.dropAccessTokens(of: user, now: moment.now)
    }
}
