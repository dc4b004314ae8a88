import CCurl
import JunctionCourier
import JunctionSecret

/// How a transfer gets to its server.
enum Route: Equatable {
    case direct
    /// - Parameter isTLS: the proxy itself is spoken to over TLS.
    case throughProxy(isTLS: Bool)

    /// Decided here and not by libcurl, which would not tell whose fault it is when nobody answers.
    init(to url: String, by settings: NetworkSettings) {
        let isOnOurOwn = Self.place(of: url).map { host, port in
            Loopback.isHost(host) || Self.isBelowLocalhost(host)
                || ProxyExceptions(settings.noProxy).cover(host, port: port)
        }
        guard settings.proxy.count > 0, isOnOurOwn == false else {
            self = .direct
            return
        }
        self = .throughProxy(isTLS: settings.proxy.withUnsafeBytes { $0.starts(with: "https:".utf8) })
    }

    /// A name of which no server may say that it is anywhere else (RFC 6761 §6.3): libcurl does not ask any. Without TLS nothing is
    /// sent there, all the same, for others resolve it otherwise.
    private static func isBelowLocalhost(_ host: String) -> Bool {
        host.lowercased().hasSuffix(".localhost")
    }

    /// The host that libcurl would go to, and the port there; an IPv6 address is in brackets.
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
