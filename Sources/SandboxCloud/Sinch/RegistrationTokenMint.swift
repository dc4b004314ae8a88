import Crypto
import FoundationEssentials
import JunctionText
import RegistrationToken

/// Mints registration tokens as an application's backend does, and bad ones for a test of each rule.
struct RegistrationTokenMint: Sendable {
    struct Wishes: Order {
        var userId: String
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

        enum CodingKeys: String, CodingKey, CaseIterable {
            case userId
            case ttl
            case instanceTtl
            case issuedAt
            case nonce
            case header
            case claims
            case forged
        }
    }

    let application: SinchApplication

    /// The token that the wishes describe: a good one where they ask for nothing bad.
    func token(_ wishes: Wishes, now: Int64) throws -> String {
        let jwt = try goodToken(wishes, now: now)
        guard wishes.header != nil || wishes.claims != nil || wishes.forged == true else { return jwt }

        let parts = jwt.split(separator: ".")
        let header = try changed(parts[0], wishes.header)
        let signed = Base64.encodeURLSafe(header) + "." + Base64.encodeURLSafe(try changed(parts[1], wishes.claims))
        var signature = Data(
            HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: try signingKey(of: header, or: parts[0]))
        )
        if wishes.forged == true { signature[signature.startIndex] ^= 1 }
        return signed + "." + Base64.encodeURLSafe(signature)
    }

    private func goodToken(_ wishes: Wishes, now: Int64) throws(Refusal) -> String {
        do throws(RegistrationToken.Rule) {
            return try RegistrationToken(
                applicationKey: application.key,
                userId: wishes.userId,
                issuedAt: wishes.issuedAt ?? now,
                timeToLive: wishes.ttl ?? RegistrationToken.usualTimeToLive,
                instanceTimeToLive: wishes.instanceTtl,
                nonce: wishes.nonce ?? RegistrationToken.freshNonce()
            ).signed(with: application.secret)
        } catch {
            throw .order("such a token breaks the rule \(error.rawValue): \(error); use claims to break it on purpose")
        }
    }

    private func changed(_ part: Substring, _ wishes: [String: JSONValue]?) throws -> Data {
        let text = Data(Base64.decode(part.utf8, .urlSafe) ?? [])
        guard let wishes else { return text }
        var members = try JSONDecoder().decode([String: JSONValue].self, from: text)
        for (name, value) in wishes { members[name] = value == .null ? nil : value }
        return try JSONValue.object(members).text()
    }

    /// The key of the date that the header names, so that a wrong date is the only thing that is wrong.
    private func signingKey(of header: Data, or good: Substring) throws -> SymmetricKey {
        let headers = [header, Data(Base64.decode(good.utf8, .urlSafe) ?? [])]
        let keyIds = headers.compactMap { try? JSONDecoder().decode(JSONValue.self, from: $0)["kid"]?.string }
        let secret = SymmetricKey(data: Base64.decode(application.secretText.utf8, .lenient) ?? [])
        let date = Data((keyIds.first ?? "").suffix(8).utf8)
        return SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: date, using: secret))
    }
}
