import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

extension HttpFailure.Cause {
    /// Sorts the errors of four libraries into those that a person can do something about.
    init(_ error: any Error, limits: OutgoingHttp.Limits, patience: Duration, longestAnswer: Int) {
        switch error {
        case let error as AnswerCollector.TooLong:
            self = .tooLong(limit: longestAnswer, status: error.status)
        case let error as HTTPClientError:
            self.init(error, limits: limits, patience: patience)
        case let error as NIOConnectionError:
            guard let attempt = error.connectionErrors.last else {
                self = .unresolved
                return
            }
            self.init(attempt.error, limits: limits, patience: patience, longestAnswer: longestAnswer)
        case ChannelError.connectTimeout:
            self = .noConnection(within: limits.connect)
        case let error as IOError:
            self.init(errno: error.errnoCode)
        case let error as NIOSSLError:
            self.init(error)
        case is NIOSSLExtraError:
            self = .certificateForAnotherHost
        case is BoringSSLError, is NIOSSLCloseTimedOutError:
            self = .notTLS
        case is HTTPParserError:
            self = .notHTTP
        case is ChannelError:
            self = .closed
        default:
            self = .unknown(type: "\(type(of: error))")
        }
    }

    private init(_ error: HTTPClientError, limits: OutgoingHttp.Limits, patience: Duration) {
        switch error {
        case .connectTimeout, .getConnectionFromPoolTimeout: self = .noConnection(within: limits.connect)
        case .tlsHandshakeTimeout: self = .noTLS(within: limits.connect)
        case .deadlineExceeded, .readTimeout: self = .noAnswer(within: patience)
        case .remoteConnectionClosed: self = .closed
        case .cancelled: self = .cancelled
        case .alreadyShutdown: self = .shutDown
        default: self = .unknown(type: error.shortDescription)
        }
    }

    private init(errno: Int32) {
        switch errno {
        case ECONNREFUSED: self = .refused
        case ECONNRESET, EPIPE: self = .closed
        default: self = .unreachable(errno: errno)
        }
    }

    private init(_ error: NIOSSLError) {
        switch error {
        case .handshakeFailed(.sslError(let stack)) where stack.contains(where: \.isAboutTrust):
            self = .untrustedCertificate
        case .noCertificateToValidate, .unableToValidateCertificate:
            self = .untrustedCertificate
        case .uncleanShutdown:
            self = .closed
        default:
            self = .notTLS
        }
    }
}

extension BoringSSLInternalError {
    // BoringSSL has one code for an unknown issuer, an expired certificate and every other reason, and NIOSSL
    // shows it in its description only.
    fileprivate var isAboutTrust: Bool { description.contains("CERTIFICATE_VERIFY_FAILED") }
}
