import CCurl
import JunctionCourier
import JunctionSecret

/// How a transfer gets to its server.
enum Way: Equatable {
    case direct
    /// - Parameter isTLS: the proxy itself is spoken to over TLS.
    case throughProxy(isTLS: Bool)

    /// Decided here and not by libcurl, which would not tell whose fault it is when nobody answers.
    init(to url: String, by settings: NetworkSettings) {
        let isOnOurOwn = Self.host(of: url).map { Loopback.isHost($0) || ProxyExceptions(settings.noProxy).cover($0) }
        guard settings.proxy.count > 0, isOnOurOwn == false else {
            self = .direct
            return
        }
        self = .throughProxy(isTLS: settings.proxy.withUnsafeBytes { $0.starts(with: "https:".utf8) })
    }

    /// The host that libcurl would go to; an IPv6 address is in brackets.
    static func host(of url: String) -> String? {
        guard let parsed = curl_url() else { return nil }
        defer { curl_url_cleanup(parsed) }
        var host: UnsafeMutablePointer<CChar>?
        guard curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK,
            curl_url_get(parsed, CURLUPART_HOST, &host, 0) == CURLUE_OK, let host
        else { return nil }
        defer { curl_free(host) }
        return String(cString: host)
    }
}
