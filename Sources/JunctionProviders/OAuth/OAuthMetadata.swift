import JunctionJSON
import JunctionSession
import JunctionText

/// The metadata of a server (OpenID Connect Discovery, RFC 8414), with its endpoints exactly as written.
struct OAuthMetadata: Sendable {
    private let endpoints: [OAuthEndpoint: String]
    /// Whether the issuer uses http on loopback, as in tests. Only then may endpoints be unencrypted.
    private let isPlain: Bool
    /// How far the local clock is ahead of the server's, if the answer shows it.
    var skew: Duration?

    /// The reason why an answer is not the metadata.
    enum Fault: Error, Equatable {
        /// The answer contains no metadata.
        case absent
        /// The metadata is of another issuer than the configured one. The value is its name, as far as it is printable.
        case otherIssuer(String)
    }

    init(_ answer: HTTPAnswer, of issuer: OAuthIssuer) throws(Fault) {
        guard answer.isSuccess, let members = OAuthMembers(answer.body), members.json("issuer") != nil else {
            throw .absent
        }
        let named = members.text("issuer")
        guard issuer.isNamed(named) else {
            throw .otherIssuer(
                named.map { $0.utf8.allSatisfy(\.isVisibleASCII) ? String($0.prefix(200)) : "?" } ?? "?"
            )
        }
        isPlain = issuer.origin.scheme == .http
        endpoints = Dictionary(
            uniqueKeysWithValues: OAuthEndpoint.allCases.compactMap { endpoint in
                members.json(endpoint)?.string.map { (endpoint, $0) }
            }
        )
    }

    /// Returns the URL of an endpoint, or `nil` if there is none. Throws if the URL is unencrypted.
    func url(of endpoint: OAuthEndpoint) throws(ProviderConfigurationFault) -> HTTPURL? {
        guard let text = endpoints[endpoint], !text.isEmpty else { return nil }
        let url = try HTTPURL(text)
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

/// How long metadata may be cached, by its `Cache-Control` (RFC 9111).
enum Freshness {
    /// The lower bound avoids two metadata requests for every renewal. The upper bound limits the time for which a
    /// false answer counts.
    static let bounds = Duration.seconds(300)...Duration.seconds(3_600)
    static let usual = bounds.upperBound

    static func of(_ answer: HTTPAnswer) -> Duration {
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
