/// Whose session it is: by its label, and by what the provider says of the tokens that are served under it.
struct Owners: Equatable {
    var label: String?
    /// The owner of the access token in hand.
    var token: String?
    /// The owner of the access token that its refresh token brings.
    var renewedToken: String?

    /// As it has to be.
    static func all(_ user: String?) -> Owners {
        Owners(label: user, token: user, renewedToken: user)
    }
}

extension Installation {
    /// Asks for the token, renews, and asks again; with handlers in between, one that says yes has to be there.
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
