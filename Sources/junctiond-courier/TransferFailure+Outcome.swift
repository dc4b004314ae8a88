import CCurl
import Glibc
import JunctionNetworkHelper

extension TransferFailure {
    /// Translates an outcome of libcurl.
    init(_ outcome: CURLcode, of transfer: Transfer, verdict: Cause?) {
        if let verdict {
            self.init(verdict, detail: UInt32(transfer.status), requestLeft: transfer.hasLeft)
            return
        }
        let (cause, detail) = Self.cause(of: outcome, transfer)
        self.init(cause, detail: detail, requestLeft: transfer.hasLeft)
    }

    /// Makes the failure for a limit that was reached. Before the proxy has answered, the proxy is the one that is
    /// late.
    init(_ lateness: Cause, of transfer: Transfer, limitOfAnswer: UInt32) {
        let limits = transfer.request.limits
        let (cause, detail): (Cause, UInt32) =
            switch (transfer.way, lateness) {
            case (.throughProxy, .resolvedTooLate): (.proxyUnresolved, limits.resolve)
            case (.throughProxy, .connectedTooLate) where !transfer.hasConnected: (.proxyUnreachable, UInt32(ETIMEDOUT))
            case (_, .answeredTooLate): (lateness, limitOfAnswer)
            case (.throughProxy, _), (.direct, _): (lateness, 0)
            }
        self.init(cause, detail: detail, requestLeft: transfer.hasLeft)
    }

    private static func cause(of outcome: CURLcode, _ transfer: Transfer) -> (Cause, UInt32) {
        if case .throughProxy(let isTLS) = transfer.way, let trouble = proxyTrouble(outcome, transfer, isTLS: isTLS) {
            return trouble
        }
        switch outcome {
        case CURLE_COULDNT_RESOLVE_HOST: return (.unresolved, 0)
        case CURLE_COULDNT_CONNECT: return unconnected(transfer.easy)
        case CURLE_OPERATION_TIMEDOUT: return (.connectedTooLate, 0)
        case CURLE_PEER_FAILED_VERIFICATION: return (certificateFailure(transfer.easy), 0)
        case CURLE_SSL_CACERT_BADFILE: return (.trustUnusable, 0)
        case CURLE_SSL_CERTPROBLEM: return (.clientCertificateUnusable, 0)
        case CURLE_SSL_CLIENTCERT: return (.clientCertificateRefused, 0)
        case CURLE_SSL_CONNECT_ERROR: return (isAboutOurCertificate(transfer) ? .clientCertificateRefused : .notTLS, 0)
        // Since TLS 1.3 a server rejects the client certificate after the request has been sent.
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE:
            return (isAboutOurCertificate(transfer) ? .clientCertificateRefused : .closed, 0)
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING:
            return (.notHTTP, 0)
        // libcurl reports a header line that is too long as out of memory, and as CURLE_TOO_LARGE (100) since 8.6.
        case CURLE_OUT_OF_MEMORY where transfer.hasLeft, CURLcode(rawValue: 100) where transfer.hasLeft:
            return (.notHTTP, 0)
        default: return (.other, outcome.rawValue)
        }
    }

    /// Returns the cause if the proxy failed and not the server behind it.
    private static func proxyTrouble(_ outcome: CURLcode, _ transfer: Transfer, isTLS: Bool) -> (Cause, UInt32)? {
        let easy = transfer.easy
        let status = ccurl_number(easy, CURLINFO_HTTP_CONNECTCODE)
        if status != 0, !(200..<300).contains(status) { return (.proxyRefused, UInt32(clamping: status)) }
        let isBeforeAnswer = isTLS && status == 0
        switch outcome {
        case CURLE_COULDNT_RESOLVE_PROXY: return (.proxyUnresolved, 0)
        case CURLE_COULDNT_CONNECT: return (.proxyUnreachable, UInt32(clamping: ccurl_number(easy, CURLINFO_OS_ERRNO)))
        case CURLE_PROXY:
            let isAboutName = ccurl_number(easy, CURLINFO_PROXY_ERROR) == Int(CURLPX_RESOLVE_HOST.rawValue)
            return (isAboutName ? .unresolved : .proxyRefused, 0)
        case CURLE_PEER_FAILED_VERIFICATION where isBeforeAnswer: return (.proxyUntrusted, 0)
        case CURLE_SSL_CONNECT_ERROR where isBeforeAnswer: return (.proxyUnreachable, 0)
        case CURLE_OPERATION_TIMEDOUT where !transfer.hasConnected: return (.proxyUnreachable, UInt32(ETIMEDOUT))
        default: return nil
        }
    }

    private static func unconnected(_ easy: UnsafeMutableRawPointer) -> (Cause, UInt32) {
        let number = UInt32(clamping: ccurl_number(easy, CURLINFO_OS_ERRNO))
        return switch Int32(number) {
        case ECONNREFUSED: (.refused, 0)
        case ETIMEDOUT, 0: (.connectedTooLate, 0)
        default: (.unreachable, number)
        }
    }

    /// Translates the error numbers of `openssl verify` (X509_V_ERR_…). With 0 and 1 the chain was valid, and libcurl's
    /// own check of the host name failed.
    private static func certificateFailure(_ easy: UnsafeMutableRawPointer) -> Cause {
        switch ccurl_number(easy, CURLINFO_SSL_VERIFYRESULT) {
        case 0, 1, 62, 64: .certificateForAnotherHost
        case 9: .futureCertificate
        case 10: .expiredCertificate
        default: .untrustedCertificate
        }
    }

    /// Returns whether the server sent a TLS alert about a certificate (RFC 8446 §6.2), which can only be the client's.
    /// libcurl has no error number for this, but its text contains OpenSSL's name of the alert.
    private static func isAboutOurCertificate(_ transfer: Transfer) -> Bool {
        let words = transfer.lastWords
        guard let alert = words.firstRange(of: " alert ") else { return false }
        let reason = words[alert.upperBound...]
        return reason.contains("certificate") || reason.hasPrefix("unknown ca")
    }
}
