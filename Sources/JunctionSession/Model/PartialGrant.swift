package import JunctionSecret

/// What a sign-in has been granted and cannot use before a further request: tokens whose user the provider has not named yet,
/// or what a one-time credential was exchanged for.
///
/// The credential is spent by then. So it is sealed in the record before that request leaves, and the next try of the same
/// credential goes on with it, over a restart too.
package struct PartialGrant: Sendable {
    /// What was spent for it: a device code, a link code, another tool's refresh token, …
    package var credential: SharedSecret
    /// The provider's own text. Nobody else reads it.
    package var content: SharedSecret

    package init(credential: SharedSecret, content: SharedSecret) {
        self.credential = credential
        self.content = content
    }
}

/// Keeps the partial grants of one try of a credential.
package struct PartialGrantStore: Sendable {
    /// What an earlier try of the same credential was granted.
    package let found: SharedSecret?
    /// Keeps what has been granted now, in the place of what was before. It returns when that is on the disk, or the disk has
    /// refused it; false: nobody wants the sign-in any more, and what was granted is given back (`giveBack`).
    package let keep: @Sendable (_ content: SharedSecret) async -> Bool
    /// Whether the next try finds what is kept.
    package let isLasting: Bool

    package init(found: SharedSecret?, keep: @escaping @Sendable (_ content: SharedSecret) async -> Bool) {
        (self.found, self.keep, isLasting) = (found, keep, true)
    }

    private init() {
        (found, keep, isLasting) = (nil, { _ in true }, false)
    }

    /// Where nothing is kept: a renewal is made anew.
    package static let none = PartialGrantStore()
}
