import Crypto
import FoundationEssentials
import JunctionText
import RegistrationToken

/// Creates registration tokens as an app's backend does, and bad tokens for the test of each rule.
struct RegistrationTokenIssuer: Sendable {
    /// The requested deviations from a valid token.
    struct Changes: Decodable {
        /// Seconds.
        var ttl: Int64?
        /// Seconds. Without it, the registration is unlimited.
        var instanceTtl: Int64?
        /// Seconds since 1970. The default is the present time of the clock of the `Date` header.
        var issuedAt: Int64?
        var nonce: String?
        /// Members of header and claims to add or to replace. `null` removes a member.
        var header: [String: JSONValue]?
        var claims: [String: JSONValue]?
        var forged: Bool?
    }

    let application: SinchApplication

    /// Returns the requested token. Without deviations it is valid.
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

    /// Returns the signing key for the date in the header, so that a wrong date is the only error in a token.
    private func signingKey(of keyId: JSONValue?) -> SymmetricKey {
        let secret = SymmetricKey(data: Base64.decode(application.secretText.utf8, .lenient) ?? [])
        let date = Data((keyId?.string ?? "").suffix(8).utf8)
        return SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: date, using: secret))
    }
}
