import CCurl
import Glibc
import JunctionCourier

extension TransferFailure {
    /// What libcurl calls it, in the words of our own format.
    init(_ outcome: CURLcode, of transfer: Transfer, verdict: Cause?) {
        let easy = transfer.easy
        if let verdict {
            self.init(verdict, detail: UInt32(transfer.status), requestLeft: transfer.hasLeft)
            return
        }
        let (cause, detail) = Self.cause(of: outcome, easy, isThroughProxy: transfer.usesProxy)
        self.init(cause, detail: detail, requestLeft: transfer.hasLeft)
    }

    private static func cause(
        of outcome: CURLcode,
        _ easy: UnsafeMutableRawPointer,
        isThroughProxy: Bool
    ) -> (Cause, UInt32) {
        let proxyStatus = ccurl_number(easy, CURLINFO_HTTP_CONNECTCODE)
        if isThroughProxy, proxyStatus != 0, !(200..<300).contains(proxyStatus) {
            return (.proxyRefused, UInt32(clamping: proxyStatus))
        }
        switch outcome {
        case CURLE_COULDNT_RESOLVE_HOST: return (.unresolved, 0)
        case CURLE_COULDNT_RESOLVE_PROXY: return (.proxyUnresolved, 0)
        case CURLE_COULDNT_CONNECT: return unconnected(easy, isThroughProxy: isThroughProxy)
        case CURLE_PROXY: return (.proxyRefused, 0)
        case CURLE_OPERATION_TIMEDOUT: return (.connectedTooLate, 0)
        case CURLE_PEER_FAILED_VERIFICATION: return (distrust(easy), 0)
        case CURLE_SSL_CACERT_BADFILE: return (.trustUnusable, 0)
        case CURLE_SSL_CERTPROBLEM: return (.clientCertificateUnusable, 0)
        case CURLE_SSL_CONNECT_ERROR: return (.notTLS, 0)
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE: return (.closed, 0)
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING:
            return (.notHTTP, 0)
        default: return (.other, outcome.rawValue)
        }
    }

    private static func unconnected(_ easy: UnsafeMutableRawPointer, isThroughProxy: Bool) -> (Cause, UInt32) {
        let number = UInt32(clamping: ccurl_number(easy, CURLINFO_OS_ERRNO))
        if isThroughProxy { return (.proxyUnreachable, number) }
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
}
