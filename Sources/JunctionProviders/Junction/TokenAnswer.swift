import JunctionJSON
import JunctionSecret
import JunctionSession

/// What the token endpoint grants: read by hand, so that no token is ever a `String` of ours.
struct TokenAnswer: Sendable {
    var token: Grant.Token
    /// Absent where the server lets the old one stand.
    var refreshToken: SharedSecret?

    /// A token that dies at once could never be used; one that outlives a year was not meant so.
    static let lives: ClosedRange<Int64> = 1...366 * 86_400
    /// It has to fit into a header, together with the others.
    static let longestAccessToken = 1 << 14

    /// Reads a success; `nil` when anything in it is not what it should be.
    ///
    /// - Parameter issuedAt: the start of the request. The life counts from there at the earliest, whatever the
    ///   answer's way back took.
    init?(_ body: SharedSecret, issuedAt: WallTime) {
        guard let answer = body.withUnsafeBytes({ try? JSONValue.parse($0) }), answer.kind == .object,
            let secret = answer["access_token"]?.secret, Self.fitsHeader(secret),
            let life = Self.seconds(answer["expires_in"]), Self.lives.contains(life)
        else { return nil }
        token = Grant.Token(secret: secret, issuedAt: issuedAt, expiresAt: issuedAt + .seconds(life))

        switch answer["refresh_token"] {
        case nil:
            refreshToken = nil
        case let value? where value.isNull:
            refreshToken = nil
        case let value?:
            guard let renewed = value.secret, renewed.count > 0 else { return nil }
            refreshToken = renewed
        }
    }

    private static func fitsHeader(_ token: SharedSecret) -> Bool {
        (1...longestAccessToken).contains(token.count)
            && token.withUnsafeBytes { $0.allSatisfy { (0x21...0x7E).contains($0) } }
    }

    /// A number, as the vendor's iOS SDK expects it, or a string, as its Android SDK does.
    private static func seconds(_ value: JSONValue?) -> Int64? {
        value?.integer ?? value?.string.flatMap(Int64.init)
    }
}
