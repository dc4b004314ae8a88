import JunctionClient
import JunctionProtocol
import JunctionSecret

/// The protocol of Go's `GOAUTH` commands, see `go help goauth`.
enum GoCredential {
    /// The URL prefixes, an empty line, the header and an empty line. Without a prefix, the answer is empty.
    static func answer(_ token: AccessToken, for authorities: [String]) -> SecretText {
        guard !authorities.isEmpty else { return SecretText("") }
        return SecretText(
            joining: .text(authorities.map { "https://\($0)\n" }.joined() + "\nAuthorization: "),
            .secret(token.accessToken.asBearer.box),
            .text("\n\n")
        )
    }

    /// The server of a URL that Go asks about, if it is one of the hosts. Go sends credentials over HTTPS only.
    static func authority(of url: String, in hosts: [HostPattern]) -> String? {
        guard url.hasPrefix("https://"), let destination = Destination(url: url), hosts.allow(destination) else {
            return nil
        }
        return destination.authority
    }
}
