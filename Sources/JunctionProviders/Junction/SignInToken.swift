import JunctionJSON
import JunctionSecret
import JunctionSession
import JunctionText

/// Junction's Sign-In Token: Base64 of a JSON object that contains a JWT. The JWT names user, team and site.
///
/// The server checks the signature of the JWT. The daemon reads only the user and the site.
struct SignInToken: Sendable {
    var site: JunctionSite
    var identity: Identity
    /// The JWT that the exchange sends.
    var userToken: SharedSecret

    /// Much longer than any token, and short enough to copy a few times.
    static let longest = 1 << 16

    /// - Parameter text: the token, or the backend's answer that contains it.
    init(_ text: SharedSecret) throws(CredentialRefused) {
        guard (try? LinkCode(text)) == nil else {
            throw .misdescribed(
                "This is a link code, not a Sign-In Token: sign in with it as a link code (junctionctl sign-in --link-code)"
            )
        }
        let given = try BackendToken(text)
        let userToken = try Self.open(given.token)
        let claims = try Self.claims(of: userToken)
        let site = try Self.site(of: claims["iss"]?.string)
        let userId = try Self.id(claims["uid"], "uid")
        let teamId = try Self.id(claims["claims"]?["vital_team_id"], "claims.vital_team_id")
        _ = try Self.id(claims["tenant_id"], "tenant_id")
        self.site = site
        self.identity = site.identity(userId: userId, teamId: teamId)
        self.userToken = userToken
        try given.requireUser(identity)
    }
}

extension SignInToken {
    /// Returns the JWT in the JSON object.
    private static func open(_ token: SharedSecret) throws(CredentialRefused) -> SharedSecret {
        guard token.count <= longest else { throw malformed("is longer than \(longest) bytes") }
        guard let decoded = token.withUnsafeBytes({ SharedSecret(base64: $0) }) else {
            throw malformed("is not Base64")
        }
        let envelope = try json(decoded, "does not hold JSON")
        guard let publicKey = envelope["public_key"], publicKey.kind == .string else {
            throw malformed("has no public_key")
        }
        guard let userToken = envelope["user_token"]?.secret else { throw malformed("has no user_token") }
        return userToken
    }

    private static func claims(of jwt: SharedSecret) throws(CredentialRefused) -> JSONValue {
        let (header, claims) = try jwt.withUnsafeBytes { (bytes) throws(CredentialRefused) in
            let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard parts.count == 3 else { throw malformed("holds a JWT that has not three parts") }
            return (try segment(parts[0], "header"), try segment(parts[1], "claims"))
        }
        guard header["alg"]?.stringEquals("RS256") == true else {
            throw malformed("holds a JWT whose alg is not RS256")
        }
        guard header["typ"]?.stringEquals("JWT") == true else { throw malformed("holds a JWT whose typ is not JWT") }
        return claims
    }

    private static func segment(
        _ text: Slice<UnsafeRawBufferPointer>,
        _ name: String
    ) throws(CredentialRefused) -> JSONValue {
        guard let decoded = SharedSecret(base64: text) else {
            throw malformed("holds a JWT whose \(name) is not Base64")
        }
        return try json(decoded, "holds a JWT whose \(name) is not JSON")
    }

    private static func json(_ text: SharedSecret, _ fault: String) throws(CredentialRefused) -> JSONValue {
        let value = text.withUnsafeBytes { try? JSONValue.parse($0) }
        guard let value, value.kind == .object else { throw malformed(fault) }
        return value
    }

    /// Parses an issuer such as `id-signer-stg-eu@vital-id-stg-eu.iam.gserviceaccount.com`. Both halves must name the
    /// same site.
    private static func site(of issuer: String?) throws(CredentialRefused) -> JunctionSite {
        guard let issuer, let at = issuer.firstIndex(of: "@"), issuer.hasPrefix("id-signer-") else {
            throw malformed("has an unknown issuer (iss)")
        }
        let place = issuer[..<at].dropFirst("id-signer-".count)
        let words = place.split(separator: "-", omittingEmptySubsequences: false)
        guard issuer[at...] == "@vital-id-\(place).iam.gserviceaccount.com", words.count == 2,
            let environment = JunctionSite.Environment(spelled: words[0]),
            let region = JunctionSite.Region(rawValue: String(words[1]))
        else { throw malformed("has an unknown issuer (iss)") }
        return JunctionSite(environment, region)
    }

    private static func id(_ value: JSONValue?, _ name: String) throws(CredentialRefused) -> String {
        guard let id = value?.string, id.utf8.allSatisfy(\.isVisibleASCII),
            (1...256).contains(id.utf8.count)
        else { throw malformed("has no valid \(name)") }
        return id
    }

    private static func malformed(_ what: String) -> CredentialRefused {
        .malformed("The Sign-In Token \(what): pass it on exactly as Junction's API returned it")
    }
}
