/// The one answer to one request.
package struct Reply: Hashable, Sendable {
    package let request: RequestID
    package let outcome: Outcome

    package typealias Outcome = Result<Answer, SessionError>
}

/// What a request that was not refused is answered with.
package enum Answer: Hashable, Sendable {
    /// To a sign-in, a sign-out or `session.renew`: the present snapshot has the result.
    case done
    case identified(IdentifyOutcome)
    /// The access token that is served now.
    case token(TokenFacts)
    /// The credential of this generation is served: a token, or an API key, which has no life.
    case authorized(generation: UInt64)
    /// The API's 401 stands: no newer credential can be had.
    case rejectionStands
    /// The pause before the next attempt is over, and the attempt begins now.
    case retry(Retry)
}

/// What `session.identify` did.
package enum IdentifyOutcome: String, Hashable, Sendable {
    case unchanged
    case signedIn
    case switched
    case signedOut
}

/// What `session.reconcile` found.
package enum ReconcileAction: String, Hashable, Sendable, CaseIterable {
    case none
    case signIn
    case signOut
    case `switch`
    /// The same user, and the provider wants a new credential.
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
