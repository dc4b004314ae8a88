/// The kinds of access that a caller may have.
package enum Capability: String, Hashable, Sendable, CaseIterable {
    /// See the state of the session.
    case status = "status"
    /// Get access tokens, and have them renewed.
    case token = "token"
    /// Call the provider's API as the signed-in user.
    case api = "api"
    /// Be asked for new credentials, as a session handler.
    case handle = "handle"
    /// Sign users in and out.
    case manage = "manage"
}
