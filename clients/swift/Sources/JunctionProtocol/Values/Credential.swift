/// What signs a user in; the secret parts stay in their boxes.
public enum Credential: Equatable, Sendable {
    /// Junction: a Sign-In Token from the app's backend, bare or in the JSON object that the backend answered.
    case signInToken(SecretText)
    /// Junction: the twelve characters of a link code.
    case linkCode(SecretText)
    /// Junction: a team API key, for evaluation only. What is left out is taken from what was configured before.
    case apiKey(SecretText? = nil, userId: String? = nil, environment: String? = nil, region: String? = nil)
    /// social.plus: a user id, with an auth token where the network is in secure mode.
    case userLogin(userId: String, displayName: String? = nil, authToken: SecretText? = nil)
    /// Sinch: a registration token; without one a session handler is asked.
    case registration(userId: String, token: SecretText? = nil)
    /// Sinch: the legacy signature.
    case registrationSignature(userId: String, signature: SecretText, sequence: UInt64)
    /// Sinch: the daemon signs with the application secret it was configured with.
    case selfSigned(userId: String)
    /// OAuth: a person approves on another screen (RFC 8628). The answer comes with the codes; the daemon waits for the rest.
    case device
    /// OAuth: what the browser brought back (RFC 6749 §4.1), with the verifier of RFC 7636.
    case authorizationCode(SecretText, redirectUri: String, codeVerifier: SecretText)
    /// OAuth: another tool's login, which the daemon takes over.
    case refreshToken(SecretText)
    /// OAuth: somebody else's token for one of ours (RFC 8693); the type is a URI of its §3.
    case tokenExchange(subjectToken: SecretText, subjectTokenType: String)

    /// The word that decides which members the wire form has.
    public var scheme: String { "\(kind.name)" }
}
