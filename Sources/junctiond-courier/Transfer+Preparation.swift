import CCurl
import JunctionNetworkHelper
import JunctionSecret

extension Transfer {
    /// Configures the transfer as the daemon requested it, and starts it.
    ///
    /// - Returns: the failure if that is not possible.
    func begin(
        on network: UnsafeMutableRawPointer,
        using settings: NetworkSettings,
        trusting authorities: TrustStore
    ) -> TransferFailure? {
        // Only what the daemon requested: one request, in HTTP/1.1, to one host, over TLS 1.2 or later.
        ccurl_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        ccurl_set_number(easy, CURLOPT_FOLLOWLOCATION, 0)
        ccurl_set_number(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        ccurl_set_number(easy, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        ccurl_set_number(easy, CURLOPT_PROXY_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        ccurl_set_number(easy, CURLOPT_NOSIGNAL, 1)
        ccurl_set_pace(easy)
        // libcurl need not wait for a pending name look-up when a transfer ends.
        ccurl_set_number(easy, CURLOPT_QUICK_EXIT, 1)
        ccurl_set_number(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        ccurl_set_number(easy, CURLOPT_MAXAGE_CONN, 30)
        // No caches: the resolver caches names itself, and a resumed TLS session would skip the check of the
        // certificate.
        ccurl_set_number(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0)
        ccurl_set_number(easy, CURLOPT_SSL_SESSIONID_CACHE, 0)
        // When a host has several addresses, the later ones need time, too. `TransferSteps` enforces the exact limits.
        let untilConnected = Int(request.limits.resolve) + Int(request.limits.connect)
        ccurl_set_number(easy, CURLOPT_CONNECTTIMEOUT_MS, untilConnected)
        ccurl_set_number(easy, CURLOPT_BUFFERSIZE, 1 << 15)

        guard ccurl_set_text(easy, CURLOPT_URL, request.url) == CURLE_OK else {
            return TransferFailure(.other, detail: CURLE_URL_MALFORMAT.rawValue, requestLeft: false)
        }
        // With a body, libcurl would send another method.
        guard request.method != "HEAD" || request.body == .none else {
            return TransferFailure(.other, detail: CURLE_BAD_FUNCTION_ARGUMENT.rawValue, requestLeft: false)
        }
        setRequest()
        trust(authorities.authorities)
        if let failure = setClientCertificate(settings) ?? setProxy(settings) { return failure }
        start(on: network, with: headerLines())
        return nil
    }

    private func setRequest() {
        switch request.body {
        case .none where request.method == "HEAD": ccurl_set_number(easy, CURLOPT_NOBODY, 1)
        // With these methods a body may be expected, so the request states its length of zero.
        case .none where ["POST", "PUT", "PATCH"].contains(request.method): setBody(count: 0)
        case .none: ccurl_set_number(easy, CURLOPT_HTTPGET, 1)
        case .bytes(let count): setBody(count: Int(clamping: count))
        case .streamed: setBody(count: -1)
        }
        ccurl_set_text(easy, CURLOPT_CUSTOMREQUEST, request.method == "HEAD" ? nil : request.method)
        // libcurl repeats a request automatically when a kept connection turns out to be dead. This option forbids it.
        if !request.mayBeRepeated { ccurl_set_number(easy, CURLOPT_FRESH_CONNECT, 1) }
    }

    /// Sets the trusted store, and forbids kept connections that were made with an earlier store.
    private func trust(_ authorities: Authorities?) {
        keep(authorities)
        ccurl_set_authorities(easy, authorities?.store)
        switch authorities?.age {
        case nil: break
        case 0: ccurl_set_number(easy, CURLOPT_FRESH_CONNECT, 1)
        case let age?: ccurl_set_number(easy, CURLOPT_MAXLIFETIME_CONN, age)
        }
    }

    private func setBody(count: Int) {
        ccurl_set_number(easy, CURLOPT_UPLOAD, 1)
        ccurl_set_size(easy, CURLOPT_INFILESIZE_LARGE, count)
        if count == 0 { giveEnd() }
    }

    private func setClientCertificate(_ settings: NetworkSettings) -> TransferFailure? {
        guard settings.clientCertificate.count > 0 else { return nil }
        let isSet = settings.clientCertificate.withUnsafeBytes {
            ccurl_set_blob(easy, CURLOPT_SSLCERT_BLOB, $0.baseAddress, $0.count)
        }
        let isKeySet = settings.clientKey.withUnsafeBytes {
            ccurl_set_blob(easy, CURLOPT_SSLKEY_BLOB, $0.baseAddress, $0.count)
        }
        // The empty password makes an encrypted key fail. Otherwise OpenSSL would prompt on standard input, which is
        // the connection to the daemon.
        ccurl_set_text(easy, CURLOPT_KEYPASSWD, "")
        guard isSet == CURLE_OK, isKeySet == CURLE_OK else {
            return TransferFailure(.clientCertificateUnusable, requestLeft: false)
        }
        return nil
    }

    /// Sets the proxy. An empty text means none, so libcurl ignores the proxy variables of the environment.
    private func setProxy(_ settings: NetworkSettings) -> TransferFailure? {
        ccurl_set_text(easy, CURLOPT_NOPROXY, "")
        guard way != .direct else {
            ccurl_set_text(easy, CURLOPT_PROXY, "")
            return nil
        }
        let isSet = settings.proxy.withTextOfC { ccurl_set_text(easy, CURLOPT_PROXY, $0) }
        guard isSet == CURLE_OK else { return TransferFailure(.proxyUnusable, requestLeft: false) }
        ccurl_set_number(easy, CURLOPT_HTTPPROXYTUNNEL, 1)
        return nil
    }

    private func headerLines() -> UnsafeMutablePointer<curl_slist>? {
        // A name without a value removes a header that libcurl adds itself.
        var lines: UnsafeMutablePointer<curl_slist>?
        let asked = Set(request.headers.map { $0.name.lowercased() })
        for name in ["accept", "expect", "content-type", "user-agent"] where !asked.contains(name) {
            lines = curl_slist_append(lines, "\(name):") ?? lines
        }
        if request.body == .streamed { lines = curl_slist_append(lines, "transfer-encoding: chunked") ?? lines }
        for (name, value) in request.headers {
            // In libcurl a semicolon marks a header that is intentionally empty.
            let start = value.count == 0 ? "\(name);" : "\(name): "
            let line = SharedSecret(joining: [.text(start), .secret(value)])
            lines = line.withTextOfC { curl_slist_append(lines, $0) } ?? lines
        }
        return lines
    }
}

extension SharedSecret {
    /// Calls `body` with the bytes and a terminating zero, in a `Secret` of their own.
    fileprivate func withTextOfC<Result>(_ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        let text = SharedSecret(joining: [.secret(self), .text("\0")])
        return text.withUnsafeBytes { body($0.baseAddress?.assumingMemoryBound(to: CChar.self)) }
    }
}
