import CryptoExtras
import FoundationEssentials
import JunctionText

/// Creates Junction's Sign-In Tokens and verifies the ones it created.
struct SignInTokenIssuer: Sendable {
    /// Deviations from Junction's tokens, for tests of bad tokens.
    struct Changes: Decodable {
        var expired: Bool?
        var environment: JunctionEnvironment?
        var region: JunctionRegion?
        /// Claims of the inner token to add or to replace. `null` removes a claim.
        var claims: [String: JSONValue]?
        var forged: Bool?
    }

    struct Claims: Sendable {
        let userId: String
        let teamId: String
        let expiresAt: Date
    }

    /// The lifetime in seconds. An hour is Google's limit for such tokens, which Junction's documentation calls
    /// "short-lived".
    static let lifetime = 3600.0

    private let key: _RSA.Signing.PrivateKey

    init() throws {
        key = try _RSA.Signing.PrivateKey(pemRepresentation: TestSigningKey.pem)
    }

    /// Returns the envelope that an app gets from its backend: base64 of `{public_key, user_token}`.
    func token(for user: User, now: Date, changes: Changes = Changes()) throws -> String {
        let envelope: JSONValue = [
            "public_key": .string((user.junction?.team ?? .example).publicKey),
            "user_token": .string(try userToken(for: user, now: now, changes: changes)),
        ]
        return try envelope.text().base64EncodedString()
    }

    /// Returns the claims of a token that this mint created and no one modified.
    func read(_ userToken: String) -> Claims? {
        guard let token = JWT(userToken) else { return nil }
        let genuine = key.publicKey.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: token.signature),
            for: token.signed,
            padding: .insecurePKCS1v1_5
        )
        guard genuine, let userId = token.claims["uid"]?.string,
            let teamId = token.claims["claims"]?["vital_team_id"]?.string, let expiry = token.claims["exp"]?.seconds
        else { return nil }
        return Claims(userId: userId, teamId: teamId, expiresAt: Date(timeIntervalSince1970: expiry))
    }

    private func userToken(for user: User, now: Date, changes: Changes) throws -> String {
        let claims = claims(of: user, now: now, changes: changes).overlaid(with: changes.claims ?? [:])
        return try JWT.text(["alg": "RS256", "typ": "JWT"], claims) { text in
            // RS256 is PKCS #1 v1.5 by definition. The name `insecure` is the library's.
            var signature = try key.signature(for: text, padding: .insecurePKCS1v1_5).rawRepresentation
            if changes.forged == true { signature[signature.startIndex] ^= 1 }
            return signature
        }
    }

    private func claims(of user: User, now: Date, changes: Changes) -> [String: JSONValue] {
        let team = user.junction?.team ?? .example
        let place = [
            (changes.environment ?? team.environment).abbreviation, (changes.region ?? team.region).rawValue,
        ].joined(separator: "-")
        let issuer = JSONValue.string("id-signer-\(place)@vital-id-\(place).iam.gserviceaccount.com")
        let issuedAt = changes.expired == true ? now - Self.lifetime - 60 : now
        return [
            "iss": issuer,
            "sub": issuer,
            "aud": "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit",
            "iat": .integer(Int64(issuedAt.timeIntervalSince1970)),
            "exp": .integer(Int64((issuedAt + Self.lifetime).timeIntervalSince1970)),
            // Two tokens of the same second must differ, because each token can be exchanged only once.
            "jti": .string(TokenText.identifier()),
            "uid": .string(user.userId),
            "tenant_id": .string(team.tenant),
            "claims": ["vital_team_id": .string(team.id)],
        ]
    }
}
