import JunctionSession

/// The server, as it calls itself: it is compared to the letter, and the metadata is looked for below it.
struct OAuthIssuer: Hashable, Sendable {
    let text: String
    private let url: HttpUrl

    /// RFC 8414 §2: https, and neither query nor fragment.
    init(_ text: String) throws(ProviderConfigurationFault) {
        url = try HttpUrl(text)
        guard !url.hasQuery else { throw ProviderConfigurationFault("An issuer has no query") }
        self.text = text
    }

    /// Whom people see in messages.
    var place: String { url.origin.place }
    var origin: HttpOrigin { url.origin }

    /// Whether somebody means this issuer: byte by byte, because a slash at the end is a difference, and to a string two
    /// spellings of one letter are not.
    func isNamed(_ other: String?) -> Bool { other.map { text.hasSameBytes(as: $0) } ?? false }

    /// Where its metadata may be: OpenID Connect's place first, then that of RFC 8414, which stands before the path.
    var metadata: [HttpUrl] {
        // A slash at the end belongs to the name, and to neither place.
        let path = url.target.hasSuffix("/") ? String(url.target.dropLast()) : url.target
        let places = [
            url.origin.url + path + "/.well-known/openid-configuration",
            url.origin.url + "/.well-known/oauth-authorization-server" + path,
        ]
        return places.compactMap { try? HttpUrl($0) }
    }
}
