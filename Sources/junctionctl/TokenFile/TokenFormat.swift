import JunctionClient
import JunctionJSON
import JunctionProtocol

/// The form in which a token is printed or written.
enum TokenFormat: String, CaseIterable {
    case token, header, json

    /// The content of a token file. The token alone has no line break, because not every reader removes it.
    func content(_ token: Connection.Answered<AccessToken>) -> SecretText {
        switch self {
        case .token: token.value.accessToken
        case .header, .json: SecretText(joining: .secret(line(token)), .text("\n"))
        }
    }

    /// The line for standard output, without its end.
    func line(_ token: Connection.Answered<AccessToken>) -> SecretText {
        switch self {
        case .token: token.value.accessToken
        case .header: SecretText(joining: .text("Authorization: "), .secret(token.value.accessToken.asBearer))
        case .json: token.json.withRawText { SecretText(copying: $0) }
        }
    }
}
