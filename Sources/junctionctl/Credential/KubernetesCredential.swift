import JunctionClient
import JunctionJSON
import JunctionProtocol

/// The protocol of client-go's credential plugins (`client.authentication.k8s.io`).
enum KubernetesCredential {
    struct Request: Equatable {
        var version: String
        /// The API server, if the kubeconfig has `provideClusterInfo: true`.
        var server: String?
    }

    private static let group = "client.authentication.k8s.io"

    /// The variable that holds the request.
    static let variable = "KUBERNETES_EXEC_INFO"

    /// Reads the request. Without one, the version is v1.
    ///
    /// - Returns: nil if this is no request, or one of an unknown version.
    static func request(_ text: String?) -> Request? {
        guard let text, !text.isEmpty else { return Request(version: "\(group)/v1") }
        guard let json = try? JSONValue.parse(Array(text.utf8)), json["kind"]?.stringEquals("ExecCredential") == true,
            let version = json["apiVersion"]?.string, ["v1", "v1beta1"].map({ "\(group)/\($0)" }).contains(version)
        else { return nil }
        // A server that is no text stands for no host, so it gets no token.
        let server = json["spec"]?["cluster"]?["server"]
        return Request(version: version, server: server.map { $0.string ?? "" })
    }

    static func answer(_ token: AccessToken, _ request: Request) -> SecretText {
        SecretText { writer in
            writer.object { writer in
                writer.member("apiVersion", request.version)
                writer.member("kind", "ExecCredential")
                writer.object("status") { writer in
                    writer.member("expirationTimestamp", "\(token.expiresAt)")
                    writer.member("token", secret: token.accessToken.box)
                }
            }
        }
    }
}
