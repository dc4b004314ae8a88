import CCurl
import JunctionNetworkHelper
import JunctionSecret

/// The route of a transfer to its server.
enum Route: Equatable {
    case direct
    /// - Parameter isTLS: whether the connection to the proxy itself uses TLS.
    case throughProxy(isTLS: Bool)

    /// The helper decides this instead of libcurl, because libcurl would not report whether the proxy or the server
    /// failed.
    init(to url: String, by settings: NetworkSettings) {
        let isOnOurOwn = Self.place(of: url).map { host, port in
            Loopback.isHost(host) || Self.isSubdomainOfLocalhost(host)
                || ProxyExceptions(settings.noProxy).cover(host, port: port)
        }
        guard settings.proxy.count > 0, isOnOurOwn == false else {
            self = .direct
            return
        }
        self = .throughProxy(isTLS: settings.proxy.withUnsafeBytes { $0.starts(with: "https:".utf8) })
    }

    /// Names below `.localhost` are always this machine (RFC 6761 §6.3), and libcurl does not ask a name server for
    /// them. Plain http is still not sent there, because other resolvers behave differently.
    private static func isSubdomainOfLocalhost(_ host: String) -> Bool {
        host.lowercased().hasSuffix(".localhost")
    }

    /// Returns the host and the port to which libcurl would connect. An IPv6 address is in brackets.
    static func place(of url: String) -> (host: String, port: Int)? {
        guard let parsed = curl_url() else { return nil }
        defer { curl_url_cleanup(parsed) }
        guard curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK,
            let host = part(CURLUPART_HOST, of: parsed),
            let port = part(CURLUPART_PORT, of: parsed).flatMap({ Int($0) })
        else { return nil }
        return (host, port)
    }

    private static func part(_ part: CURLUPart, of url: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(url, part, &text, UInt32(CURLU_DEFAULT_PORT)) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
