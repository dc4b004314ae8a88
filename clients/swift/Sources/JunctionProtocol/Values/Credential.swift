/// A credential that signs a user in. Its secret parts are in memory that is wiped.
public enum Credential: Equatable, Sendable {
    /// Junction: a Sign-In Token from the app's backend, either alone or in the JSON object of the backend's answer.
    case signInToken(SecretText)
    /// Junction: the twelve characters of a link code.
    case linkCode(SecretText)
    /// Junction: a team API key, for evaluation only. Omitted values come from the earlier configuration.
    case apiKey(SecretText? = nil, userId: String? = nil, environment: String? = nil, region: String? = nil)
    /// social.plus: a user id, with an auth token where the network is in secure mode.
    case userLogin(userId: String, displayName: String? = nil, authToken: SecretText? = nil)
    /// Sinch: a registration token. Without a token, the daemon asks a session handler.
    case registration(userId: String, token: SecretText? = nil)
    /// Sinch: the legacy signature.
    case registrationSignature(userId: String, signature: SecretText, sequence: UInt64)
    /// Sinch: the daemon signs with its configured application secret.
    case selfSigned(userId: String)
    /// OAuth: a person approves on another screen (RFC 8628). The answer contains the codes, and the daemon waits for
    /// the approval.
    case device
    /// OAuth: the authorization code that the browser returned (RFC 6749, section 4.1), with the verifier (RFC 7636).
    case authorizationCode(SecretText, redirectUri: String, codeVerifier: SecretText)
    /// OAuth: the refresh token of another tool's sign-in, which the daemon takes over.
    case refreshToken(SecretText)
    /// OAuth: a token of another issuer, which is exchanged (RFC 8693). The type is a URI of its section 3.
    case tokenExchange(subjectToken: SecretText, subjectTokenType: String)

    /// The word that determines the members of the wire form.
    public var scheme: String { kind.rawValue }
}
