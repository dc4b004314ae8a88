/// The answer to one request. What may be answered follows from what was asked.
package enum Reply: Hashable, Sendable {
    /// To a sign-in, a sign-out or `session.renew`: it is done, and the answer is the present snapshot; or why not.
    case change(ChangeRequest, Refusal?)
    case identify(IdentifyRequest, Result<IdentifyOutcome, Refusal>)
    /// The access token that is served now.
    case token(TokenRequest, Result<TokenFacts, Refusal>)
    case authorization(AuthorizationRequest, Result<Authorization, Refusal>)

    var id: RequestID {
        switch self {
        case .change(let request, _): request.id
        case .identify(let request, _): request.id
        case .token(let request, _): request.id
        case .authorization(let request, _): request.id
        }
    }
}

/// With what an API call may be made.
package enum Authorization: Hashable, Sendable {
    /// The present credential, of this generation (a token, or an API key, which has no life).
    case granted(generation: UInt64)
    /// The API's 401 stands: there is no newer credential to try with.
    case rejectionStands
}

/// What `session.identify` did.
package enum IdentifyOutcome: String, Hashable, Sendable {
    case unchanged
    case signedIn
    case switched
    case signedOut
}

/// What `session.reconcile` found.
package enum ReconcileAction: String, Hashable, Sendable {
    case none
    case signIn
    case signOut
    case `switch`
}

/// One request of one caller, from arrival to its one answer.
package struct RequestID: Hashable, Sendable {
    package var number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}

/// A request, with what it asked for in its type.
package struct Request<Asked>: Hashable, Sendable {
    package let id: RequestID

    package init(_ id: RequestID) {
        self.id = id
    }
}

/// What a request may ask for.
package enum Asked {
    package enum Change {}
    package enum Identify {}
    package enum Token {}
    package enum Authorization {}
}

/// A sign-in, a sign-out or `session.renew`.
package typealias ChangeRequest = Request<Asked.Change>
package typealias IdentifyRequest = Request<Asked.Identify>
package typealias TokenRequest = Request<Asked.Token>
/// An API call that needs the session's credential, or another one than the API has rejected.
package typealias AuthorizationRequest = Request<Asked.Authorization>
