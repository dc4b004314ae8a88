import JunctionSession

/// The issuer identifier of the server. It is compared byte by byte, and the URLs of the metadata derive from it.
struct OAuthIssuer: Hashable, Sendable {
    let text: String
    private let url: HTTPURL

    /// Parses an issuer (RFC 8414 §2): https, without a query or fragment.
    init(_ text: String) throws(ProviderConfigurationFault) {
        url = try HTTPURL(text)
        guard !url.hasQuery else { throw ProviderConfigurationFault("An issuer has no query") }
        self.text = text
    }

    /// The name of the server for messages.
    var place: String { url.origin.place }
    var origin: HTTPOrigin { url.origin }

    /// Returns whether `other` is this issuer. The comparison is byte by byte: a slash at the end is a difference, and
    /// so is another Unicode form, which `String` would treat as equal.
    func isNamed(_ other: String?) -> Bool { other.map { text.hasSameBytes(as: $0) } ?? false }

    /// The possible URLs of the metadata: first that of OpenID Connect, then that of RFC 8414, which comes before the
    /// path.
    var metadata: [HTTPURL] {
        // A slash at the end belongs to the issuer but to neither URL.
        let path = url.target.hasSuffix("/") ? String(url.target.dropLast()) : url.target
        let places = [
            url.origin.url + path + "/.well-known/openid-configuration",
            url.origin.url + "/.well-known/oauth-authorization-server" + path,
        ]
        return places.compactMap { try? HTTPURL($0) }
    }
}
