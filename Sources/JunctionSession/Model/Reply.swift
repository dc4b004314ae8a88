/// The one answer to one request.
package struct Reply: Hashable, Sendable {
    package let request: RequestID
    package let outcome: Outcome

    package typealias Outcome = Result<Answer, SessionError>
}

/// The result of a request that was not refused.
package enum Answer: Hashable, Sendable {
    /// The result of a sign-in, a sign-out or `session.renew`. The present snapshot has the details.
    case done
    case identified(IdentifyOutcome)
    /// The access token that is served now.
    case token(TokenFacts)
    /// The credential of this generation is served: a token, or an API key, which has no lifetime.
    case authorized(generation: UInt64)
    /// The API's 401 is final, because no newer credential is available.
    case rejectionStands
    /// The pause before the next attempt is over, and the attempt begins now.
    case retry(Retry)
}

package enum IdentifyOutcome: String, Hashable, Sendable {
    case unchanged
    case signedIn
    case switched
    case signedOut
}

package enum ReconcileAction: String, Hashable, Sendable, CaseIterable {
    case none
    case signIn
    case signOut
    case `switch`
    /// The same user, from whom the provider demands a new credential.
    case reauthenticate
    /// The same user, with an API key.
    case migrate
}

/// One request of one caller, from its arrival to its one answer.
package struct RequestID: Hashable, Sendable {
    package var number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}
