import JunctionJSON
import JunctionSecret
import JunctionSession

/// The claims of an id_token about the user (OpenID Connect Core §2).
///
/// The token comes directly from the server over TLS, which may replace the check of its signature (§3.1.3.7 no. 6).
struct IdToken: Sendable {
    /// `iss` and `sub`, unchanged.
    let issuer: String
    let subject: String
    private let claims: JSONValue

    /// Clocks of devices can be wrong by minutes.
    static let tolerance: Duration = .seconds(300)

    /// Parses a token; returns `nil` if it is not an id_token or has no valid subject.
    init?(_ token: SharedSecret) {
        guard let claims = token.withUnsafeBytes(Self.claims), let issuer = claims["iss"]?.string,
            let subject = claims["sub"]?.string, Subject.isValid(subject)
        else { return nil }
        (self.issuer, self.subject, self.claims) = (issuer, subject, claims)
    }

    /// Returns the description of a fault (§3.1.3.7 no. 2 to 5 and 9), or `nil` if the token is valid for this client.
    func fault(from issuer: OAuthIssuer, for clientId: String, by clock: ServerClock, now: WallTime) -> String? {
        guard issuer.isNamed(self.issuer) else { return "is of another issuer (iss)" }
        let audiences = audiences
        guard audiences.contains(clientId) else { return "is for another client (aud)" }
        switch claims["azp"] {
        case let party? where !party.isNull:
            guard party.string == clientId else { return "is for another client (azp)" }
        default:
            guard audiences.count == 1 else { return "is for several clients, and does not say which asked (azp)" }
        }
        guard let end = claims["exp"]?.double, end > 0, end < 1e11 else { return "has no end (exp)" }
        let expiresAt = clock.ours(WallTime(milliseconds: Int64(end * 1_000)))
        return now < expiresAt + Self.tolerance ? nil : "has expired (exp): check the clock"
    }

    private var audiences: [String] {
        guard let audience = claims["aud"] else { return [] }
        return audience.string.map { [$0] } ?? audience.elements.compactMap(\.string)
    }

    /// Returns the payload of a signed JWT; `nil` for an encrypted one.
    private static func claims(_ token: UnsafeRawBufferPointer) -> JSONValue? {
        let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = SharedSecret(base64: parts[1]),
            let claims = payload.withUnsafeBytes({ try? JSONValue.parse($0) }), claims.kind == .object
        else { return nil }
        return claims
    }
}

/// The id of a user at a server.
enum Subject {
    /// Returns whether the id is valid: somewhat more than the 255 ASCII characters that OpenID Connect allows, without
    /// characters that cannot be displayed.
    static func isValid(_ text: String) -> Bool {
        (1...1_024).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { scalar in
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
                default: true
                }
            }
    }
}
