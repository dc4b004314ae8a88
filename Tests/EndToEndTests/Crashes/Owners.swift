/// The user of a session: by its label, and by the provider's view of the tokens.
struct Owners: Equatable {
    var label: String?
    /// The owner of the present access token.
    var token: String?
    /// The owner of the access token after a renewal.
    var renewedToken: String?

    /// The expected value: one user owns everything.
    static func all(_ user: String?) -> Owners {
        Owners(label: user, token: user, renewedToken: user)
    }
}

extension Installation {
    /// Requests a token, renews, and requests a token again. In handler mode, a handler that allows the renewal must be
    /// registered.
    func owners() throws -> Owners {
        let client = try connect()
        let (status, token) = (try client.call("session.status"), try client.call("token.get"))
        let renewed = try client.call("session.renew")
        let labels = Set([status.userId, token.userId, renewed.userId])
        return Owners(
            label: labels.count == 1 ? status.userId : "more than one: \(labels)",
            token: try cloud.owner(of: token.accessToken),
            renewedToken: try cloud.owner(of: client.call("token.get").accessToken)
        )
    }
}
