import Crypto
import FoundationEssentials
import JunctionText
import RegistrationToken

/// Mints registration tokens as an application's backend does, and bad ones for a test of each rule.
struct RegistrationTokenMint: Sendable {
    /// What the token is to be like.
    struct Changes: Decodable {
        /// Seconds.
        var ttl: Int64?
        /// Seconds; without it, the registration has no end.
        var instanceTtl: Int64?
        /// Seconds since 1970; by default now, on the clock of the `Date` header.
        var issuedAt: Int64?
        var nonce: String?
        /// Members of header and claims to add, to replace, or with `null` to leave out.
        var header: [String: JSONValue]?
        var claims: [String: JSONValue]?
        var forged: Bool?
    }

    let application: SinchApplication

    /// The token that is asked for: a good one where nothing bad is.
    func token(for user: String, now: Int64, changes: Changes) throws -> String {
        let good = try goodToken(for: user, now: now, changes)
        guard changes.header != nil || changes.claims != nil || changes.forged == true, let token = JWT(good) else {
            return good
        }
        let header = token.header.members.overlaid(with: changes.header ?? [:])
        let key = signingKey(of: header["kid"] ?? token.header["kid"])
        return try JWT.text(header, token.claims.members.overlaid(with: changes.claims ?? [:])) { text in
            var signature = Data(HMAC<SHA256>.authenticationCode(for: text, using: key))
            if changes.forged == true { signature[signature.startIndex] ^= 1 }
            return signature
        }
    }

    private func goodToken(for user: String, now: Int64, _ changes: Changes) throws(Refusal) -> String {
        do throws(RegistrationToken.Rule) {
            return try RegistrationToken(
                applicationKey: application.key,
                userId: user,
                issuedAt: changes.issuedAt ?? now,
                timeToLive: changes.ttl ?? RegistrationToken.usualTimeToLive,
                instanceTimeToLive: changes.instanceTtl,
                nonce: changes.nonce ?? RegistrationToken.freshNonce()
            ).signed(with: application.secret)
        } catch {
            throw .order("such a token breaks the rule \(error.rawValue): \(error); use claims to break it on purpose")
        }
    }

    /// The key of the date that the header names, so that a wrong date is the only thing that is wrong.
    private func signingKey(of keyId: JSONValue?) -> SymmetricKey {
        let secret = SymmetricKey(data: Base64.decode(application.secretText.utf8, .lenient) ?? [])
        let date = Data((keyId?.string ?? "").suffix(8).utf8)
        return SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: date, using: secret))
    }
}
