import JunctionClient
import JunctionJSON
import JunctionProtocol

/// The protocol of Bazel's credential helpers (EngFlow's credential-helper-spec).
enum BazelCredential {
    /// The server that Bazel asks about.
    ///
    /// - Returns: nil if this is no request.
    static func uri(_ bytes: UnsafeRawBufferPointer) -> String? {
        (try? JSONValue.parse(bytes))?["uri"]?.string
    }

    /// - Parameter token: nil for a server that has no credential here.
    static func answer(_ token: AccessToken?) -> SecretText {
        SecretText { writer in
            writer.object { writer in
                writer.object("headers") { writer in
                    if let token {
                        writer.array("Authorization") { $0.string(secret: token.accessToken.asBearer.box) }
                    }
                }
                if let token { writer.member("expires", "\(token.expiresAt)") }
            }
        }
    }
}
