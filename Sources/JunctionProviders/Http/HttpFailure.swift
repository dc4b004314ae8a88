import Glibc
import JunctionSession

/// Why a request brought no complete answer.
struct HttpFailure: Error, Equatable {
    var cause: Cause
    /// Whom it was for: the host, and the port unless it is the usual one.
    var place: String
    /// Any of the request may have reached the server.
    var requestLeft: Bool
    /// How long ago it left, where that is known.
    var sinceLeft: Duration?

    enum Cause: Error, Equatable {
        case unresolved
        case noName(within: Duration)
        case refused
        case unreachable(errno: Int32)
        case noConnection(within: Duration)
        case noAnswer(within: Duration)
        case untrustedCertificate
        case expiredCertificate
        case futureCertificate
        case certificateForAnotherHost
        case notTLS
        case closed
        case notHTTP
        case tooLong(limit: Int, status: Int)
        case requestTooLong
        case tooManyUnderWay
        /// Zero: it does not say why in HTTP.
        case proxyRefused(status: Int)
        case proxyUnresolved
        case noProxyName(within: Duration)
        case proxyUnreachable(errno: Int32)
        case proxyUntrusted
        case proxyUnusable
        case trustUnusable
        case clientCertificateUnusable
        case clientCertificateRefused
        /// Nothing is wrong with the network: there is nobody who carries anything to it.
        case courier(CourierTrouble)
        case cancelled
        case shutDown
        /// A library's error that has no better words than its number.
        case unknown(number: Int)
    }

    /// Whether the server may have acted on the request although its answer is missing.
    var isAmbiguous: Bool {
        switch cause {
        case .tooLong(_, let status): requestLeft && HttpAnswer.mayHaveActed(status: status)
        default: requestLeft
        }
    }

    /// What happened, to what, and what to do.
    var message: String {
        guard let remedy else { return detail }
        return "\(detail): \(remedy)"
    }

    /// What happened, to what.
    var detail: String {
        switch cause {
        case .unresolved: "The name \(place) cannot be resolved"
        case .noName(let limit): "The name \(place) was not resolved within \(limit.inSeconds)"
        case .refused: "Connection refused by \(place)"
        case .unreachable(let number): "\(place) cannot be reached (\(String(cString: strerror(number))))"
        case .noConnection(let limit): "No connection to \(place) within \(limit.inSeconds)"
        case .noAnswer(let limit): "No answer from \(place) within \(limit.inSeconds)"
        case .untrustedCertificate: "The certificate of \(place) is not trusted"
        case .expiredCertificate: "The certificate of \(place) has expired"
        case .futureCertificate: "The certificate of \(place) is not valid yet"
        case .certificateForAnotherHost: "The certificate of \(place) is for another host"
        case .notTLS: "\(place) does not speak TLS as expected"
        case .closed: "\(place) closed the connection without a complete answer"
        case .notHTTP: "\(place) did not answer in HTTP"
        case .tooLong(let limit, _): "The answer of \(place) is longer than \(limit) bytes"
        case .requestTooLong: "The request to \(place) is longer than a request may be"
        case .tooManyUnderWay: "The request to \(place) was not made: too many others are waiting for their answers"
        case .proxyRefused(0): "The proxy does not let us through to \(place)"
        case .proxyRefused(let status): "The proxy does not let us through to \(place) (it answers \(status))"
        case .proxyUnresolved: "The name of the proxy cannot be resolved"
        case .noProxyName(let limit): "The name of the proxy was not resolved within \(limit.inSeconds)"
        case .proxyUntrusted: "The certificate of the proxy is not trusted"
        case .proxyUnreachable(let number):
            number == 0
                ? "The proxy cannot be reached" : "The proxy cannot be reached (\(String(cString: strerror(number))))"
        case .proxyUnusable: "The address of the proxy is none that can be used"
        case .trustUnusable: "The certificates that \(place) is to be checked with cannot be read"
        case .clientCertificateUnusable: "Our own certificate for \(place), or its key, cannot be used"
        case .clientCertificateRefused:
            "\(place) wants a certificate of ours, and got none or one that it does not know"
        case .courier(let trouble): trouble.detail(for: place)
        case .cancelled: "The request to \(place) was given up"
        case .shutDown: "The request to \(place) was not made: the daemon is stopping"
        case .unknown(let number): "The request to \(place) failed (libcurl's error \(number))"
        }
    }

    /// What to do, where there is something to do.
    var remedy: String? {
        switch cause {
        case .unresolved: "check the network and its DNS"
        case .noName, .noProxyName: "check the name servers in /etc/resolv.conf, or raise network.resolveTimeout"
        case .refused: "is it running?"
        case .unreachable, .noConnection: "check the network, its firewall, and the port"
        case .expiredCertificate, .futureCertificate:
            "set the clock if that is wrong; else its owner has to renew the certificate"
        case .untrustedCertificate: "add its CA to tls.caFile, or set the clock if that is wrong"
        case .certificateForAnotherHost: "check the URL, or who answers in its place"
        case .notTLS: "check the port and the scheme of the URL"
        case .notHTTP: "check the port"
        case .proxyRefused(407): "put the right USER:PASSWORD@ before the host in network.proxy"
        case .proxyRefused, .proxyUnresolved, .proxyUnreachable, .proxyUnusable:
            "check network.proxy, or HTTPS_PROXY in the daemon's environment"
        case .proxyUntrusted: "add its CA to tls.caFile, and check its name and its dates"
        case .trustUnusable: "install the system's authorities (ca-certificates), or name your own in tls.caFile"
        case .clientCertificateUnusable:
            "check network.clientCertificateFile and network.clientKeyFile: PEM, the key without a password"
        case .clientCertificateRefused: "check network.clientCertificateFile with whoever runs the server"
        case .courier(let trouble): trouble.remedy
        case .noAnswer, .closed, .tooLong, .requestTooLong, .tooManyUnderWay, .cancelled, .shutDown, .unknown: nil
        }
    }
}

extension Unavailability {
    init(_ failure: HttpFailure) {
        self.init(
            failure.detail,
            remedy: failure.remedy,
            cause: failure.cause.kind,
            host: failure.place,
            ambiguous: failure.isAmbiguous,
            sentAgo: failure.sinceLeft
        )
    }
}

extension HttpFailure.Cause {
    /// The same in one of the words that are counted.
    fileprivate var kind: Unavailability.Cause {
        switch self {
        case .unresolved: .name
        case .refused, .unreachable, .closed: .connection
        case .noName, .noConnection, .noAnswer: .timeout
        case .untrustedCertificate, .expiredCertificate, .futureCertificate, .certificateForAnotherHost, .notTLS,
            .trustUnusable, .clientCertificateUnusable, .clientCertificateRefused:
            .certificate
        case .notHTTP, .tooLong: .answer
        case .proxyRefused, .proxyUnresolved, .noProxyName, .proxyUnreachable, .proxyUntrusted, .proxyUnusable: .proxy
        case .courier: .courier
        case .requestTooLong, .tooManyUnderWay, .cancelled, .shutDown, .unknown: .other
        }
    }
}

extension Duration {
    fileprivate var inSeconds: String {
        let milliseconds = wholeMilliseconds
        return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
    }
}
