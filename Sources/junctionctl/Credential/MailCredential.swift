import JunctionClient
import JunctionProtocol
import JunctionSecret
import JunctionText

/// The initial client responses of SASL XOAUTH2 and OAUTHBEARER (RFC 7628), in Base64.
enum MailCredential {
    static func xoauth2(_ token: AccessToken, user: String) -> SecretText {
        inBase64(
            SecretText(
                joining: .text("user=\(user)\u{1}auth="),
                .secret(token.accessToken.asBearer.box),
                .text("\u{1}\u{1}")
            )
        )
    }

    static func oauthbearer(_ token: AccessToken, user: String, host: HostPattern?) -> SecretText {
        // In a SASL name, `,` and `=` are escaped (RFC 5801, section 4).
        let name = user.replacing("=", with: "=3D").replacing(",", with: "=2C")
        let server = host?.parts.map { host, port in
            "host=\(host)\u{1}" + (port.map { "port=\($0)\u{1}" } ?? "")
        }
        return inBase64(
            SecretText(
                joining: .text("n,a=\(name),\u{1}\(server ?? "")auth="),
                .secret(token.accessToken.asBearer.box),
                .text("\u{1}\u{1}")
            )
        )
    }

    private static func inBase64(_ response: SecretText) -> SecretText {
        let encoded = Secret(capacity: Base64.characters(for: response.count)) { room in
            response.withUnsafeBytes { Base64.encode($0, into: room) }
        }
        return SecretText(SharedSecret(encoded))
    }
}
