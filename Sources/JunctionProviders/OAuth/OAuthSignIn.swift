import JunctionSecret
import JunctionSession
import JunctionText

/// A credential that the token endpoint exchanges for tokens, with one form.
struct OAuthSignIn: Sendable {
    private let grant: GrantType

    /// The limit for a refresh token that a user passes in, because it is stored with the session. A token of the
    /// server is limited by the length of its answer.
    static let longestRefreshToken = 1 << 14

    private enum GrantType: Sendable {
        case authorizationCode(SharedSecret, redirectUri: String, codeVerifier: SharedSecret)
        case refreshToken(SharedSecret)
        case tokenExchange(SubjectToken)
    }

    /// The scheme of the session after a sign-in.
    struct Granted: Sendable {
        var scheme: Scheme
        /// The token type for renewals of a session without a refresh token.
        var subjectTokenType: String?
    }

    init(_ credential: Credential) throws(CredentialRefused) {
        switch credential {
        case .authorizationCode(let code, let redirectUri, let verifier):
            guard code.isPrintable else { throw .malformed("The authorization code must be \(SharedSecret.printable)") }
            guard RedirectUri.isPossible(redirectUri) else {
                throw .malformed(RedirectUri.rule)
            }
            guard verifier.isCodeVerifier else {
                throw .malformed("The code verifier must have 43 to 128 characters of A-Z, a-z, 0-9, -, ., _ and ~")
            }
            grant = .authorizationCode(code, redirectUri: redirectUri, codeVerifier: verifier)
        case .refreshToken(let token):
            guard token.count <= Self.longestRefreshToken else {
                throw .malformed("The refresh token is longer than \(Self.longestRefreshToken) bytes")
            }
            guard token.isPrintable else { throw .malformed("The refresh token must be printable ASCII") }
            grant = .refreshToken(token)
        case .tokenExchange(let token, let type):
            grant = .tokenExchange(try SubjectToken(token, type: type))
        case .device:
            throw .malformed("A device sign-in brings nothing to redeem: it is approved on another screen")
        case .signInToken, .linkCode, .apiKey, .userLogin, .registration, .registrationSignature, .selfSigned:
            throw .unsupported(
                "An OAuth server has no scheme \(credential.scheme.rawValue): use device, authorizationCode, refreshToken "
                    + "or tokenExchange"
            )
        }
    }

    /// The refresh token, if the credential is one.
    var refreshToken: SharedSecret? {
        if case .refreshToken(let token) = grant { token } else { nil }
    }

    var scheme: Scheme {
        switch grant {
        case .authorizationCode: .authorizationCode
        case .refreshToken: .refreshToken
        case .tokenExchange: .tokenExchange
        }
    }

    var words: String {
        switch grant {
        case .authorizationCode: "the authorization code"
        case .refreshToken: "the refresh token"
        case .tokenExchange: "the subject token"
        }
    }

    var granted: Granted {
        switch grant {
        case .authorizationCode, .refreshToken: Granted(scheme: scheme)
        case .tokenExchange(let subject): Granted(scheme: scheme, subjectTokenType: subject.type)
        }
    }

    func fields(_ setup: OAuthSetup) -> [FormBody.Field] {
        switch grant {
        case .authorizationCode(let code, let redirectUri, let verifier):
            [
                .text(name: "grant_type", value: "authorization_code"), .secret(name: "code", value: code),
                .text(name: "redirect_uri", value: redirectUri),
                .secret(name: "code_verifier", value: verifier),
            ] + setup.resources.map { .text(name: "resource", value: $0) }
        case .refreshToken(let token): Self.renewal(token)
        case .tokenExchange(let subject): subject.fields(setup)
        }
    }

    /// Returns the form of a renewal. It has no scope and no resource: servers would permanently narrow the session, or
    /// refuse.
    static func renewal(_ refreshToken: SharedSecret) -> [FormBody.Field] {
        [.text(name: "grant_type", value: "refresh_token"), .secret(name: "refresh_token", value: refreshToken)]
    }
}

/// A token that the app's own server made for a user, and its type (RFC 8693 §2.1).
struct SubjectToken: Sendable {
    let token: SharedSecret
    let type: String

    init(_ token: SharedSecret, type: String) throws(CredentialRefused) {
        guard token.isPrintable else { throw .malformed("The subject token must be \(SharedSecret.printable)") }
        guard AbsoluteUri.isValid(type) else {
            throw .misdescribed(
                "The type of the subject token must be a URI, such as urn:ietf:params:oauth:token-type:jwt"
            )
        }
        (self.token, self.type) = (token, type)
    }

    func fields(_ setup: OAuthSetup) -> [FormBody.Field] {
        [
            .text(name: "grant_type", value: "urn:ietf:params:oauth:grant-type:token-exchange"),
            .secret(name: "subject_token", value: token), .text(name: "subject_token_type", value: type),
        ] + setup.asked
    }
}

extension OAuthSetup {
    /// The parameters of a sign-in request: scope, audience and resources.
    var asked: [FormBody.Field] {
        var fields: [FormBody.Field] = []
        if !scopes.isEmpty { fields.append(.text(name: "scope", value: scopes.joined(separator: " "))) }
        if let audience { fields.append(.text(name: "audience", value: audience)) }
        return fields + resources.map { .text(name: "resource", value: $0) }
    }
}

/// The redirect URI of a browser sign-in (RFC 8252 §7).
enum RedirectUri {
    static let rule =
        "The redirect URI must be http on loopback, https, or a private scheme such as com.example.app:/done"

    static func isPossible(_ text: String) -> Bool {
        guard AbsoluteUri.isValid(text), !text.contains("#"), let colon = text.firstIndex(of: ":") else { return false }
        let scheme = text[..<colon].lowercased()
        // A private-use scheme must contain a domain, so that two apps do not share one.
        guard scheme == "http" || scheme == "https" else { return scheme.contains(".") }
        return (try? HTTPURL(text)) != nil
    }
}

extension SharedSecret {
    /// Whether this can be a token or a code: printable ASCII, not empty and not too long.
    var isPrintable: Bool {
        (1...Self.longestToken).contains(count) && withUnsafeBytes { $0.allSatisfy { (0x20...0x7E).contains($0) } }
    }

    private static let longestToken = 1 << 16
    fileprivate static let printable = "printable ASCII of at most \(longestToken) bytes"

    /// RFC 7636 §4.1.
    fileprivate var isCodeVerifier: Bool {
        (43...128).contains(count) && withUnsafeBytes { $0.allSatisfy(PercentEncoding.isUnreserved) }
    }
}
