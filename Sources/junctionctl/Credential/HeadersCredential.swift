import JunctionClient
import JunctionJSON
import JunctionProtocol

/// A JSON object of headers, as the header helpers of MCP clients print it.
enum HeadersCredential {
    /// The variable in which Claude Code names the URL of the MCP server.
    static let variable = "CLAUDE_CODE_MCP_SERVER_URL"

    static func answer(_ token: AccessToken) -> SecretText {
        SecretText { writer in
            writer.object { $0.member("Authorization", secret: token.accessToken.asBearer.box) }
        }
    }
}
