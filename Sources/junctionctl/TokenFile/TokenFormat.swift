import JunctionClient
import JunctionJSON
import JunctionProtocol
import JunctionSecret
import JunctionText

/// The form in which a token is printed or written.
enum TokenFormat: String, CaseIterable {
    case token, header, json

    /// The content of a token file. The token alone has no line break, because not every reader removes it.
    func content(_ token: Connection.Answered<AccessToken>) -> SecretText {
        switch self {
        case .token: token.value.accessToken
        case .header, .json: SecretText(joining: .secret(line(token).box), .text("\n"))
        }
    }

    /// The fewest characters of a token alone. A shorter text may be a word. Tokens are longer, because a token that cannot
    /// be guessed has at least 128 bits (RFC 6749 §10.10), which are 22 characters of Base64.
    private static let fewestCharacters = 20

    /// Whether the content of a file has one of the forms.
    static func fits(_ content: UnsafeRawBufferPointer) -> Bool {
        if let json = try? JSONValue.parse(content), json["accessToken"] != nil { return true }
        let start = "Authorization: Bearer ".utf8
        let isHeader = content.starts(with: start) && content.last == UInt8(ascii: "\n")
        let token = isHeader ? content.dropFirst(start.count).dropLast() : content[...]
        // A token has neither spaces nor line breaks.
        return token.count >= (isHeader ? 1 : fewestCharacters) && token.allSatisfy(\.isVisibleASCII)
    }

    /// The line for standard output, without its end.
    func line(_ token: Connection.Answered<AccessToken>) -> SecretText {
        switch self {
        case .token: token.value.accessToken
        case .header: SecretText(joining: .text("Authorization: "), .secret(token.value.accessToken.asBearer.box))
        case .json: token.json.withView { SecretText(copying: $0.rawText) }
        }
    }
}
