import FoundationEssentials
import Hummingbird

enum Caller: Sendable {
    /// A backend, authenticated by `x-vital-api-key`.
    case team(Team)
    /// An app of one user, authenticated by `Authorization: Bearer`.
    case user(User)
}

extension CloudState {
    /// Returns the caller that the credential in the headers belongs to.
    func caller(_ request: Request, now: Date) throws(Refusal) -> Caller {
        if let key = request.headers[.vitalApiKey] {
            guard let team = Team(apiKey: key) else { throw .api(.unauthorized, "the API key is unknown") }
            return .team(team)
        }
        guard let token = request.bearer else {
            throw .api(.unauthorized, "send x-vital-api-key or Authorization: Bearer")
        }
        guard let login = logins.login(ofAccessToken: token, at: .junction, now: now),
            let user = users[.junction, login.userId], user.isActive
        else {
            throw .api(.unauthorized, "the access token is expired, revoked or unknown")
        }
        return .user(user)
    }

    /// Returns the user that a path names, if the caller may access that user.
    func user(_ id: String, for caller: Caller) throws(Refusal) -> User {
        switch caller {
        case .user(let own):
            guard own.userId == id.lowercased() else { throw .api(.forbidden, "this user is not the signed-in one") }
            return own
        case .team(let team):
            guard let user = users[.junction, id], user.junction?.team.id == team.id, !user.isDeleted else {
                throw .api(.notFound, "the team has no such user")
            }
            return user
        }
    }
}

extension Caller {
    /// Returns the team. Refuses a signed-in user.
    func team() throws(Refusal) -> Team {
        guard case .team(let team) = self else {
            throw .api(.forbidden, "this call needs a team API key")
        }
        return team
    }
}

extension HeaderName {
    fileprivate static let vitalApiKey = Self("x-vital-api-key")!
}
