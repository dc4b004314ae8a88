import FoundationEssentials
import Hummingbird

/// An event that can happen to a user of any vendor. The raw value is the last part of the path.
enum UserEvent: String, CaseIterable {
    case expireAccessTokens = "expire-access-tokens"
    case revokeAccessTokens = "revoke-access-tokens"
    case requireReauthentication = "require-reauthentication"
    case disable
    case enable
    case delete
    case undelete

    /// The label of the button on the page.
    var label: String {
        switch self {
        case .expireAccessTokens: "Access tokens expire"
        case .revokeAccessTokens: "Revoke access tokens"
        case .requireReauthentication: "Require a new sign-in"
        case .disable, .enable, .delete, .undelete: rawValue.prefix(1).uppercased() + rawValue.dropFirst()
        }
    }
}

extension CloudState {
    fileprivate mutating func apply(_ event: UserEvent, to user: User, at moment: Moment) {
        switch event {
        case .expireAccessTokens: logins.expireAccessTokens(of: user, now: moment.now)
        case .revokeAccessTokens: logins.dropAccessTokens(of: user, now: moment.now)
        case .requireReauthentication: logins.endAll(of: user, because: .ended, now: moment.now)
        case .disable: users[user.vendor, user.userId]?.isDisabled = true
        case .enable: users[user.vendor, user.userId]?.isDisabled = false
        case .delete: delete(user, at: moment)
        case .undelete: users[user.vendor, user.userId]?.isDeleted = false
        }
    }
}

extension Driving {
    /// Adds the endpoints for one vendor's users and logins, and for token introspection.
    func addRoutes(of vendor: any Vendor, to router: Router<CloudContext>) {
        let name = vendor.name
        let path = name.drivingPath
        router.get("\(path)/users") { _, _ in
            try store.read { state, moment in
                try Response.json(["users": state.shownUsers(of: name, now: moment.now)])
            }
        }
        router.post("\(path)/users") { request, _ in
            let order = try await request.order(NewUser.self)
            return try store.change { state, moment in
                let user = try order.user(of: name, now: moment.now)
                guard state.users.add(user) else {
                    throw Refusal.order("there is a user '\(user.name)' already", status: .conflict)
                }
                return try Response.json(state.shown(user, at: moment), status: .created)
            }
        }
        router.post("\(path)/users/{user}/{verb}") { request, context in
            let (named, verb) = (try context.part("user"), try context.part("verb"))
            if vendor.credentials.contains(where: { $0.value == verb }) {
                return try Response.json(try await vendor.make(verb, for: named, request))
            }
            guard let event = UserEvent(rawValue: verb) else { throw HTTPError(.notFound) }
            return try store.change { state, moment in
                let user = try state.user(named, at: name)
                state.apply(event, to: user, at: moment)
                return try Response.json(state.shown(user, at: moment))
            }
        }
        router.get("\(path)/logins") { _, _ in
            try store.read { state, moment in
                try Response.json(["logins": state.shownLogins(of: name, now: moment.now)])
            }
        }
        router.post("\(path)/introspect") { request, _ in
            let token = try await request.order(ShownToken.self).token
            return try store.read { state, moment in
                let (standing, login) = state.logins.standing(of: token, at: name, now: moment.now)
                let shown = state.shownLogins(of: name, now: moment.now).first { $0.kept.id == login?.id }
                return try Response.json(Introspection(standing: standing, login: shown))
            }
        }
    }
}

extension CloudState {
    /// Returns the user that a path names by id or by name.
    func user(_ named: String, at vendor: VendorName) throws(Refusal) -> User {
        guard let user = users.find(named, at: vendor) else {
            throw .order("there is no user '\(named)'", status: .notFound)
        }
        return user
    }

    fileprivate func shown(_ user: User, at moment: Moment) -> ShownUser? {
        shownUsers(of: user.vendor, now: moment.now).first { $0.kept.userId == user.userId }
    }
}

/// The body of a request that creates a user. Every key is optional.
private struct NewUser: Decodable {
    var name: String?
    /// Junction's key for the name.
    var clientUserId: String?
    var userId: String?
    /// The API key of the user's Junction team.
    var apiKey: String?

    func user(of vendor: VendorName, now: Date) throws(Refusal) -> User {
        let name = name ?? clientUserId ?? userId ?? TokenText.identifier()
        switch vendor {
        case .junction:
            guard let team = Team(apiKey: apiKey ?? Team.exampleKey) else {
                throw .order("apiKey must begin with sk_us_, sk_eu_, pk_us_ or pk_eu_")
            }
            return User(
                vendor: vendor,
                userId: userId ?? TokenText.identifier(),
                name: name,
                createdAt: now,
                junction: JunctionProfile(team: team)
            )
        case .oauth:
            return User(vendor: vendor, userId: userId ?? TokenText.identifier(), name: name, createdAt: now)
        case .social, .sinch:
            let id = userId ?? name
            guard (1...50).contains(id.count) else { throw .order("userId must have 1 to 50 characters") }
            return User(vendor: vendor, userId: id, name: name, createdAt: now)
        }
    }
}

private struct ShownToken: Decodable {
    var token: String
}

private struct Introspection: Encodable {
    let standing: Logins.Standing
    let login: ShownLogin?
}
