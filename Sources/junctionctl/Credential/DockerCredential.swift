import JunctionClient
import JunctionJSON
import JunctionProtocol

/// The protocol of docker's credential helpers (docker-credential-helpers).
enum DockerCredential {
    /// An answer without a credential, in docker's own words, which docker compares.
    enum Refusal: String, Error {
        /// Docker then tries without a credential.
        case absence = "credentials not found in native keychain"
        /// The request names no server.
        case noServer = "no credentials server URL"
    }

    /// Reads the server of a request.
    ///
    /// - Returns: nil if there is only white space.
    static func server(_ input: String) -> String? {
        let server = input.trimmed
        return server.isEmpty ? nil : String(server)
    }

    static func answer(_ token: AccessToken, server: String, username: String) -> SecretText {
        SecretText { writer in
            writer.object { writer in
                writer.member("ServerURL", server)
                writer.member("Username", username)
                writer.member("Secret", secret: token.accessToken.box)
            }
        }
    }

    /// The answer of `list`: the servers, each with the user name.
    static func list(_ hosts: [HostPattern], username: String) -> SecretText {
        SecretText { writer in
            writer.object { writer in
                for host in hosts.compactMap(\.authority) {
                    writer.key("https://\(host)")
                    writer.string(username)
                }
            }
        }
    }

    /// The registries that docker's `config.json` gives to this helper. A key is a host or a URL.
    static func hosts(inDockersOwn configuration: JSONValue) -> [HostPattern] {
        guard let helpers = configuration["credHelpers"] else { return [] }
        return helpers.members.compactMap { name, helper in
            // To docker a `*` is no wildcard.
            guard helper.stringEquals("junction"), let name = name.string, !name.hasPrefix("*") else { return nil }
            return HostPattern(name) ?? Destination(registry: name).flatMap { HostPattern($0.authority) }
        }
    }

    /// The hosts of the user's own file: one a line; empty lines and those that begin with `#` do not count.
    ///
    /// - Returns: nil if another line is not a host.
    static func hosts(inLines text: String) -> [HostPattern]? {
        var hosts: [HostPattern] = []
        for line in text.split(whereSeparator: \.isNewline) where line.first != "#" {
            let words = line.split(separator: " ")
            guard let word = words.first else { continue }
            guard words.count == 1, let host = HostPattern(word) else { return nil }
            hosts.append(host)
        }
        return hosts
    }
}
