import JunctionClient
import JunctionProtocol
import JunctionSecret

/// The protocol of git's credential helpers, see git-credential(1) and gitcredentials(7).
enum GitCredential {
    /// What git asks about: lines with `key=value`, ended by an empty line or the end of the input.
    struct Request: Equatable {
        /// Nil if git names no server to which a token may go.
        var destination: Destination?
        var username: String?
        /// For `erase`: the password that the server refused.
        var password: SecretText?
    }

    static func request(_ bytes: UnsafeRawBufferPointer) -> Request {
        var request = Request()
        var values: [String: String] = [:]
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            if line.isEmpty { break }
            guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let value = line[line.index(after: equals)...]
            switch String(decoding: line[..<equals], as: UTF8.self) {
            case "password": request.password = SecretText(copying: UnsafeRawBufferPointer(rebasing: value))
            case let key where ["protocol", "host", "username"].contains(key):
                values[key] = String(decoding: value, as: UTF8.self)
            default: continue
            }
        }
        request.username = values["username"].flatMap { $0.isEmpty ? nil : $0 }
        if let host = values["host"], let scheme = values["protocol"] {
            request.destination = Destination(host, scheme: scheme)
        }
        return request
    }

    static func answer(_ token: AccessToken, username: String) -> SecretText {
        SecretText(
            joining: .text("username=\(username)\npassword="),
            .secret(token.accessToken.box),
            .text("\npassword_expiry_utc=\(token.expiresAt.milliseconds / 1000)\n")
        )
    }

    /// How old a token has to be before a refusal renews it, in milliseconds. With it, a server that refuses every token causes one
    /// renewal in ten seconds.
    static let youngest: Int64 = 10_000

    /// Whether a refused password is the present token, and that token is old enough to be renewed.
    static func shouldRenew(
        _ token: SecretText,
        issuedAt: Timestamp?,
        refused: SecretText?,
        now: Timestamp
    ) -> Bool {
        guard refused == token, let issuedAt else { return false }
        // A time in the future comes from a clock step. The age is then unknown.
        let isYoung = issuedAt <= now && issuedAt.milliseconds > now.milliseconds - youngest
        return !isYoung
    }
}
