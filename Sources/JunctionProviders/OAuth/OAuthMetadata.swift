import JunctionJSON
import JunctionSession

/// What a server says of itself (OpenID Connect Discovery, RFC 8414): where its endpoints are, each as it is written.
struct OAuthMetadata: Sendable {
    private let endpoints: [OAuthEndpoint: String]
    /// The issuer is one of a test, on loopback: only such a one's endpoints may be unencrypted there.
    private let isPlain: Bool
    /// How far our clock is ahead of the server's, where its answer tells.
    var skew: Duration?

    /// Why an answer is no metadata.
    enum Fault: Error, Equatable {
        /// There is none at this place.
        case absent
        /// It is of another issuer than the configured one: the name, as far as it can be shown.
        case otherIssuer(String)
    }

    init(_ answer: HttpAnswer, of issuer: OAuthIssuer) throws(Fault) {
        guard answer.isSuccess, let members = OAuthMembers(answer.body), members.json("issuer") != nil else {
            throw .absent
        }
        let named = members.text("issuer")
        guard issuer.isNamed(named) else {
            throw .otherIssuer(
                named.map { $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? String($0.prefix(200)) : "?" } ?? "?"
            )
        }
        isPlain = issuer.origin.scheme == .http
        endpoints = Dictionary(
            uniqueKeysWithValues: OAuthEndpoint.allCases.compactMap { endpoint in
                members.json(endpoint)?.string.map { (endpoint, $0) }
            }
        )
    }

    /// The URL of an endpoint, if there is one; what is not encrypted is none.
    func url(of endpoint: OAuthEndpoint) throws(ProviderConfigurationFault) -> HttpUrl? {
        guard let text = endpoints[endpoint], !text.isEmpty else { return nil }
        let url = try HttpUrl(text)
        guard isPlain || url.origin.scheme == .https else {
            throw ProviderConfigurationFault("\(url.origin.url) is not encrypted, and oauth.issuer is")
        }
        return url
    }
}

extension OAuthMembers {
    fileprivate func json(_ endpoint: OAuthEndpoint) -> JSONValue? {
        switch endpoint {
        case .token: json("token_endpoint")
        case .deviceAuthorization: json("device_authorization_endpoint")
        case .revocation: json("revocation_endpoint")
        case .userinfo: json("userinfo_endpoint")
        case .authorization: json("authorization_endpoint")
        }
    }
}

/// How long an answer may be used again, by its `Cache-Control` (RFC 9111).
enum Freshness {
    /// A server whose metadata may never be kept would be asked twice for every renewal. A false answer that promises a year
    /// is over in an hour.
    static let bounds = Duration.seconds(300)...Duration.seconds(3_600)
    static let usual = bounds.upperBound

    static func of(_ answer: HttpAnswer) -> Duration {
        var asked: Duration?
        for header in answer.headers where header.name.lowercased() == "cache-control" {
            for directive in header.value.lowercased().split(separator: ",") {
                let words = directive.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\"" } }
                switch words.first {
                case "no-store", "no-cache": return bounds.lowerBound
                case "max-age" where words.count == 2:
                    asked = Int64(words[1]).map { .seconds(min(max($0, 0), 1 << 31)) } ?? asked
                default: break
                }
            }
        }
        return min(max(asked ?? usual, bounds.lowerBound), bounds.upperBound)
    }
}
