import CryptoExtras
import FoundationEssentials
import JunctionText

/// Mints Junction's Sign-In Tokens, and recognises its own.
struct SignInTokenMint: Sendable {
    /// What to do differently from the vendor, for a test of a bad token.
    struct Wishes: Order {
        var expired: Bool?
        var environment: JunctionEnvironment?
        var region: JunctionRegion?
        /// Claims of the inner token to add, to replace, or with `null` to leave out.
        var claims: [String: JSONValue]?
        var forged: Bool?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case expired
            case environment
            case region
            case claims
            case forged
        }
    }

    /// What a genuine token says.
    struct Claims: Sendable {
        let userId: String
        let teamId: String
        let expiresAt: Date
    }

    /// Google's limit for such tokens, which Junction's documentation calls "short-lived".
    static let lifetime = 3600.0

    private let key: _RSA.Signing.PrivateKey

    init() throws {
        key = try _RSA.Signing.PrivateKey(pemRepresentation: TestSigningKey.pem)
    }

    /// The envelope that an app gets from its backend: base64 of `{public_key, user_token}`.
    func token(for user: User, now: Date, wishes: Wishes = Wishes()) throws -> String {
        let envelope: JSONValue = [
            "public_key": .string(user.team.publicKey),
            "user_token": .string(try userToken(for: user, now: now, wishes: wishes)),
        ]
        return try envelope.text().base64EncodedString()
    }

    /// The claims of a token that this mint made and nobody changed.
    func read(_ userToken: String) -> Claims? {
        let parts = userToken.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let signature = Base64.decode(parts[2].utf8, .urlSafe),
            let payload = Base64.decode(parts[1].utf8, .urlSafe)
        else { return nil }

        let genuine = key.publicKey.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: signature),
            for: Data("\(parts[0]).\(parts[1])".utf8),
            padding: .insecurePKCS1v1_5
        )
        guard genuine, let claims = try? JSONDecoder().decode(JSONValue.self, from: Data(payload)),
            let userId = claims["uid"]?.string, let teamId = claims["claims"]?["vital_team_id"]?.string,
            let expiry = claims["exp"]?.seconds
        else { return nil }
        return Claims(userId: userId, teamId: teamId, expiresAt: Date(timeIntervalSince1970: expiry))
    }

    private func userToken(for user: User, now: Date, wishes: Wishes) throws -> String {
        let header: JSONValue = ["alg": "RS256", "typ": "JWT"]
        var claims = self.claims(of: user, now: now, wishes: wishes)
        for (name, value) in wishes.claims ?? [:] { claims[name] = value == .null ? nil : value }

        let signed =
            Base64.encodeURLSafe(try header.text()) + "." + Base64.encodeURLSafe(try JSONValue.object(claims).text())
        // RS256 is PKCS #1 v1.5 by definition, whatever the library thinks of its name.
        var signature = try key.signature(for: Data(signed.utf8), padding: .insecurePKCS1v1_5).rawRepresentation
        if wishes.forged == true { signature[signature.startIndex] ^= 1 }
        return signed + "." + Base64.encodeURLSafe(signature)
    }

    private func claims(of user: User, now: Date, wishes: Wishes) -> [String: JSONValue] {
        let place = [
            (wishes.environment ?? user.team.environment).abbreviation, (wishes.region ?? user.team.region).rawValue,
        ].joined(separator: "-")
        let issuer = JSONValue.string("id-signer-\(place)@vital-id-\(place).iam.gserviceaccount.com")
        let issuedAt = wishes.expired == true ? now - Self.lifetime - 60 : now
        return [
            "iss": issuer,
            "sub": issuer,
            "aud": "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit",
            "iat": .integer(Int64(issuedAt.timeIntervalSince1970)),
            "exp": .integer(Int64((issuedAt + Self.lifetime).timeIntervalSince1970)),
            // Two tokens of the same second must differ, because each is good for one exchange.
            "jti": .string(TokenText.identifier()),
            "uid": .string(user.id),
            "tenant_id": .string(user.team.tenant),
            "claims": ["vital_team_id": .string(user.team.id)],
        ]
    }
}
