import FoundationEssentials
import Hummingbird

extension OAuthCloud {
    /// Which logins live, and what a token is: what a server would tell nobody but its operator.
    func addFamilyDriving(to router: Router<CloudContext>) {
        router.get("sandbox/oauth/families") { _, _ in
            let families = ledger.read { state, now in
                state.oauth.families.all.map { DrivenFamily($0, in: state.oauth, now: now) }
            }
            return try Response.json(["families": families])
        }
        router.post("sandbox/oauth/introspect") { request, _ in
            let wishes = try await request.order(IntrospectionWishes.self)
            let answer = ledger.read { state, now in
                let (standing, family) = state.oauth.families.standing(of: wishes.token, now: now)
                return Introspection(
                    standing: standing,
                    family: family.map { DrivenFamily($0, in: state.oauth, now: now) }
                )
            }
            return try Response.json(answer)
        }
    }
}

/// A login as the `/sandbox` endpoints show it.
private struct DrivenFamily: Encodable {
    let id: String
    let sub: String
    let clientId: String
    let openedBy: GrantType
    let scope: String
    let resources: [String]
    /// Parameters by which a refresh has narrowed the login for good; empty for a client that behaves.
    let narrowedBy: [String]
    /// Whether there is a refresh token that is good.
    let isAlive: Bool
    let ending: OAuthFamilies.Ending?
    let refreshes: Int
    let replays: Int
    /// How many access tokens are good.
    let accessTokens: Int

    init(_ family: OAuthFamilies.Family, in state: OAuthState, now: Date) {
        id = family.id
        sub = family.subject
        clientId = family.login.client
        openedBy = family.login.openedBy
        scope = family.scopes.joined(separator: " ")
        resources = family.resources
        narrowedBy = family.narrowedBy.sorted()
        isAlive = family.isAlive
        ending = family.ending
        refreshes = family.refreshes
        replays = family.replays
        accessTokens = state.families.accessTokenCount(of: family.id, now: now)
    }
}

private struct Introspection: Encodable {
    let standing: OAuthFamilies.Standing
    let family: DrivenFamily?
}

private struct IntrospectionWishes: Order {
    var token: String

    enum CodingKeys: String, CodingKey, CaseIterable {
        case token
    }
}
