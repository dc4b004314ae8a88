package import JunctionSecret

/// The request parameters of a sign-in in a browser (RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 8252).
package struct AuthorizationPage: Sendable {
    /// The address to which the browser returns.
    package var redirectUri: String
    /// The value that the browser returns unchanged.
    package var state: String
    /// The proof that the same program requests and redeems the code.
    package var proof: Proof

    package enum Proof: Sendable {
        /// The verifier's SHA-256 in Base64url.
        case challenge(String)
        /// The verifier from which the challenge is computed.
        case verifier(SharedSecret)
    }

    package init(redirectUri: String, state: String, proof: Proof) {
        self.redirectUri = redirectUri
        self.state = state
        self.proof = proof
    }
}

/// The reason why there is no authorization page.
package enum AuthorizationPageFailure: Error, Equatable, Sendable {
    /// A parameter is wrong, or the provider has no such page.
    case refused(SessionError)
    /// The address of the page could not be found.
    case unavailable(Unavailability)

    /// The error for the caller.
    package var refusal: SessionError {
        switch self {
        case .refused(let refusal): refusal
        case .unavailable(let failure): SessionError(failure, remedy: .signInAgain(after: failure))
        }
    }
}
