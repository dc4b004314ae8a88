/// What a caller may be allowed to do, one word for each kind of access.
package enum Capability: String, Hashable, Sendable, CaseIterable {
    /// See the state of the session.
    case status = "status"
    /// Get access tokens, and have them renewed.
    case token = "token"
    /// Call the provider's API as the signed-in user.
    case api = "api"
    /// Be asked for new credentials.
    case handle = "handle"
    /// Sign users in and out.
    case manage = "manage"
}
