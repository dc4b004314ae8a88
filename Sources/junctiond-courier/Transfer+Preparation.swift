import CCurl
import JunctionCourier
import JunctionSecret

extension Transfer {
    /// Sets up a transfer as the daemon has asked for it, and puts it on its way.
    ///
    /// - Returns: why that cannot be done.
    func begin(
        on network: UnsafeMutableRawPointer,
        using settings: NetworkSettings,
        trusting authorities: TrustStore
    ) -> TransferFailure? {
        // Nothing but what was asked for: one request, in HTTP/1.1, to one place, over TLS 1.2 or later.
        ccurl_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        ccurl_set_number(easy, CURLOPT_FOLLOWLOCATION, 0)
        ccurl_set_number(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        ccurl_set_number(easy, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        ccurl_set_number(easy, CURLOPT_PROXY_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        ccurl_set_number(easy, CURLOPT_NOSIGNAL, 1)
        ccurl_set_pace(easy)
        // A look-up that nobody waits for any more is left to itself.
        ccurl_set_number(easy, CURLOPT_QUICK_EXIT, 1)
        ccurl_set_number(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        ccurl_set_number(easy, CURLOPT_MAXAGE_CONN, 30)
        // Nothing is kept of what the network was like a moment ago: names are the resolver's to remember, and a session of TLS
        // that is resumed is one whose certificate nobody looks at.
        ccurl_set_number(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0)
        ccurl_set_number(easy, CURLOPT_SSL_SESSIONID_CACHE, 0)
        // Of several addresses the later ones need time, too; the limits themselves are kept by `TransferSteps`.
        let untilConnected = Int(request.limits.resolve) + Int(request.limits.connect)
        ccurl_set_number(easy, CURLOPT_CONNECTTIMEOUT_MS, untilConnected)
        ccurl_set_number(easy, CURLOPT_BUFFERSIZE, 1 << 15)

        guard ccurl_set_text(easy, CURLOPT_URL, request.url) == CURLE_OK else {
            return TransferFailure(.other, detail: CURLE_URL_MALFORMAT.rawValue, requestLeft: false)
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
        // A body may be expected of these: it has a length, which is none.
        case .none where ["POST", "PUT", "PATCH"].contains(request.method): setBody(count: 0)
        case .none: ccurl_set_number(easy, CURLOPT_HTTPGET, 1)
        case .bytes(let count): setBody(count: Int(clamping: count))
        case .streamed: setBody(count: -1)
        }
        ccurl_set_text(easy, CURLOPT_CUSTOMREQUEST, request.method == "HEAD" ? nil : request.method)
        // libcurl makes a request again by itself when the connection that it had kept turns out to be dead.
        if !request.mayBeRepeated { ccurl_set_number(easy, CURLOPT_FRESH_CONNECT, 1) }
    }

    /// Nothing is kept of what was trusted a minute ago: neither an authority nor a connection to whom it had vouched for.
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
        // A key that wants a password gets none: OpenSSL would ask for it where the daemon speaks.
        ccurl_set_text(easy, CURLOPT_KEYPASSWD, "")
        guard isSet == CURLE_OK, isKeySet == CURLE_OK else {
            return TransferFailure(.clientCertificateUnusable, requestLeft: false)
        }
        return nil
    }

    /// What the environment says about proxies is for the daemon to read: here an empty text means none.
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
        // Without a value: libcurl's own are not sent. The others are what was asked for.
        var lines: UnsafeMutablePointer<curl_slist>?
        let asked = Set(request.headers.map { $0.name.lowercased() })
        for name in ["accept", "expect", "content-type", "user-agent"] where !asked.contains(name) {
            lines = curl_slist_append(lines, "\(name):") ?? lines
        }
        if request.body == .streamed { lines = curl_slist_append(lines, "transfer-encoding: chunked") ?? lines }
        for (name, value) in request.headers {
            // A semicolon is how libcurl wants to hear of a header that is empty on purpose.
            let start = value.count == 0 ? "\(name);" : "\(name): "
            let line = SharedSecret(
                Secret(capacity: start.utf8.count + value.count) { room in
                    room.copyBytes(from: start.utf8)
                    value.withUnsafeBytes {
                        UnsafeMutableRawBufferPointer(rebasing: room[start.utf8.count...]).copyMemory(from: $0)
                    }
                    return room.count
                }
            )
            lines = line.withTextOfC { curl_slist_append(lines, $0) } ?? lines
        }
        return lines
    }
}

extension SharedSecret {
    /// Lends the bytes with the zero at their end that a library of C wants, in a box of their own.
    fileprivate func withTextOfC<Result>(_ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        let text = Secret(capacity: count + 1) { room in
            withUnsafeBytes { room.copyMemory(from: $0) }
            room[count] = 0
            return count + 1
        }
        return text.withUnsafeBytes { body($0.baseAddress?.assumingMemoryBound(to: CChar.self)) }
    }
}
