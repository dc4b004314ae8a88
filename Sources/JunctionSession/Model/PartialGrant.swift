package import JunctionSecret

/// A grant that needs another request before there is a session. It holds tokens whose user the provider has not named
/// yet, or the result of exchanging a one-time credential.
///
/// The credential is spent by then. The daemon therefore seals the grant in the record before it sends the next
/// request. The next attempt with the same credential continues with the grant, also after a restart.
package struct PartialGrant: Sendable {
    /// The credential that was spent for it: a device code, a link code, another tool's refresh token, …
    package var credential: SharedSecret
    /// The provider's own text. No other module reads it.
    package var content: SharedSecret

    package init(credential: SharedSecret, content: SharedSecret) {
        self.credential = credential
        self.content = content
    }
}

/// Keeps the partial grants of one attempt with a credential.
package struct PartialGrantStore: Sendable {
    /// The grant of an earlier attempt with the same credential.
    package let found: SharedSecret?
    /// Keeps a grant in place of the earlier one. It returns when the write has ended, successfully or not. It returns
    /// false if the attempt is no longer wanted. The session revokes a grant that no attempt can use any more.
    package let keep: @Sendable (_ content: SharedSecret) async -> Bool

    package init(found: SharedSecret?, keep: @escaping @Sendable (_ content: SharedSecret) async -> Bool) {
        (self.found, self.keep) = (found, keep)
    }

    /// Keeps nothing: the credential can be sent again.
    package static let none = PartialGrantStore(found: nil) { _ in true }
}
