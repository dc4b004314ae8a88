import CCurl
import Glibc
import JunctionCourier

extension TransferFailure {
    /// What libcurl calls it, in the words of our own format.
    init(_ outcome: CURLcode, of transfer: Transfer, verdict: Cause?) {
        if let verdict {
            self.init(verdict, detail: UInt32(transfer.status), requestLeft: transfer.hasLeft)
            return
        }
        let (cause, detail) = Self.cause(of: outcome, transfer)
        self.init(cause, detail: detail, requestLeft: transfer.hasLeft)
    }

    /// A limit was reached. Until the proxy has answered it is the proxy that is late.
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
        case CURLE_PEER_FAILED_VERIFICATION: return (distrust(transfer.easy), 0)
        case CURLE_SSL_CACERT_BADFILE: return (.trustUnusable, 0)
        case CURLE_SSL_CERTPROBLEM: return (.clientCertificateUnusable, 0)
        case CURLE_SSL_CLIENTCERT: return (.clientCertificateRefused, 0)
        case CURLE_SSL_CONNECT_ERROR: return (isAboutOurCertificate(transfer) ? .clientCertificateRefused : .notTLS, 0)
        // From TLS 1.3 on the server's word about our certificate comes after the request has left.
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE:
            return (isAboutOurCertificate(transfer) ? .clientCertificateRefused : .closed, 0)
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING:
            return (.notHTTP, 0)
        // So it calls a line of the head that is longer than it takes; CURLE_TOO_LARGE since 8.6.
        case CURLE_OUT_OF_MEMORY where transfer.hasLeft, CURLcode(rawValue: 100) where transfer.hasLeft:
            return (.notHTTP, 0)
        default: return (.other, outcome.rawValue)
        }
    }

    /// What is the proxy's doing, and not that of the server behind it.
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

    /// The reasons of `openssl verify` (X509_V_ERR_…). Where none was noted (1), the chain was found good, and libcurl's own
    /// look at the name was what failed.
    private static func distrust(_ easy: UnsafeMutableRawPointer) -> Cause {
        switch ccurl_number(easy, CURLINFO_SSL_VERIFYRESULT) {
        case 0, 1, 62, 64: .certificateForAnotherHost
        case 9: .futureCertificate
        case 10: .expiredCertificate
        default: .untrustedCertificate
        }
    }

    /// A server that says something about a certificate (RFC 8446 §6.2) can only mean ours. libcurl has no number for it, but
    /// passes on what OpenSSL calls it.
    private static func isAboutOurCertificate(_ transfer: Transfer) -> Bool {
        let words = transfer.lastWords
        guard let alert = words.firstRange(of: " alert ") else { return false }
        let reason = words[alert.upperBound...]
        return reason.contains("certificate") || reason.hasPrefix("unknown ca")
    }
}
