import Glibc
import JunctionNetworkHelper
import JunctionSession

extension Unavailability {
    /// Describes a failure that the network helper reported. The numbers of the helper only select a message.
    init(_ failure: TransferFailure, of transfer: OutgoingTransfer) {
        self.init(failure.text(of: transfer), remedy: failure.remedy, cause: failure.kind, of: transfer)
        // With `tooLong` the detail is the status of the answer.
        if failure.cause == .tooLong, !HTTPAnswer.mayHaveActed(status: Int(failure.detail)) { ambiguous = false }
    }

    /// Describes a failure for which the daemon ended the request itself.
    init(_ failure: LocalFailure, of transfer: OutgoingTransfer) {
        self.init(failure.text(of: transfer.place), remedy: failure.remedy, cause: failure.kind, of: transfer)
    }

    private init(_ detail: String, remedy: String?, cause: Cause, of transfer: OutgoingTransfer) {
        self.init(
            detail,
            remedy: remedy,
            cause: cause,
            host: transfer.place,
            ambiguous: transfer.requestLeft,
            sentAgo: transfer.sinceLeft
        )
    }
}

extension TransferFailure {
    fileprivate func text(of transfer: OutgoingTransfer) -> String {
        let (place, limits) = (transfer.place, transfer.limits)
        return switch cause {
        case .unresolved: "The name \(place) cannot be resolved"
        case .resolvedTooLate: "The name \(place) was not resolved within \(limits.resolve.inSeconds)"
        case .refused: "Connection refused by \(place)"
        case .unreachable: "\(place) cannot be reached (\(errorText))"
        case .connectedTooLate: "No connection to \(place) within \(limits.connect.inSeconds)"
        case .answeredTooLate: "No answer from \(place) within \(detail.inSeconds)"
        case .untrustedCertificate: "The certificate of \(place) is not trusted"
        case .expiredCertificate: "The certificate of \(place) has expired"
        case .futureCertificate: "The certificate of \(place) is not valid yet"
        case .certificateForAnotherHost: "The certificate of \(place) is for another host"
        case .notTLS: "\(place) does not speak TLS as expected"
        case .closed: "\(place) closed the connection without a complete answer"
        case .notHTTP: "\(place) did not answer in HTTP"
        case .tooLong: "The answer of \(place) is longer than \(transfer.call.longestAnswer) bytes"
        case .proxyRefused where detail == 0: "The proxy refuses the connection to \(place)"
        case .proxyRefused: "The proxy refuses the connection to \(place) (it answers \(detail))"
        case .proxyUnresolved where detail == 0: "The name of the proxy cannot be resolved"
        case .proxyUnresolved: "The name of the proxy was not resolved within \(detail.inSeconds)"
        case .proxyUntrusted: "The certificate of the proxy is not trusted"
        case .proxyUnreachable where detail == 0: "The proxy cannot be reached"
        case .proxyUnreachable: "The proxy cannot be reached (\(errorText))"
        case .proxyUnusable: "The address of the proxy is not valid"
        case .trustUnusable: "The certificates that \(place) is to be checked with cannot be read"
        case .clientCertificateUnusable: "The client certificate for \(place), or its key, cannot be used"
        case .clientCertificateRefused:
            "\(place) requires a client certificate, and got none or one that it does not accept"
        case .other: "The request to \(place) failed (libcurl's error \(detail))"
        }
    }

    /// The next step for the user, if there is one.
    fileprivate var remedy: String? {
        switch cause {
        case .unresolved: "check the network and its DNS"
        case .proxyUnresolved where detail > 0, .resolvedTooLate:
            "check the name servers in /etc/resolv.conf, or raise network.resolveTimeout"
        case .refused: "is it running?"
        case .unreachable, .connectedTooLate: "check the network, its firewall, and the port"
        case .expiredCertificate, .futureCertificate:
            "set the clock if that is wrong; else its owner has to renew the certificate"
        case .untrustedCertificate: "add its CA to tls.caFile, or set the clock if that is wrong"
        case .certificateForAnotherHost: "check the URL, or who answers in its place"
        case .notTLS: "check the port and the scheme of the URL"
        case .notHTTP: "check the port"
        case .proxyRefused where detail == 407: "put the right USER:PASSWORD@ before the host in network.proxy"
        case .proxyRefused, .proxyUnresolved, .proxyUnreachable, .proxyUnusable:
            "check network.proxy, or HTTPS_PROXY in the daemon's environment"
        case .proxyUntrusted: "add its CA to tls.caFile, and check its name and its dates"
        case .trustUnusable: "install the system's authorities (ca-certificates), or name your own in tls.caFile"
        case .clientCertificateUnusable:
            "check network.clientCertificateFile and network.clientKeyFile: PEM, the key without a password"
        case .clientCertificateRefused: "check network.clientCertificateFile with whoever runs the server"
        case .answeredTooLate, .closed, .tooLong, .other: nil
        }
    }

    fileprivate var kind: Unavailability.Cause {
        switch cause {
        case .unresolved: .name
        case .refused, .unreachable, .closed: .connection
        case .resolvedTooLate, .connectedTooLate, .answeredTooLate: .timeout
        case .untrustedCertificate, .expiredCertificate, .futureCertificate, .certificateForAnotherHost, .notTLS,
            .trustUnusable, .clientCertificateUnusable, .clientCertificateRefused:
            .certificate
        case .notHTTP, .tooLong: .answer
        case .proxyRefused, .proxyUnresolved, .proxyUnreachable, .proxyUntrusted, .proxyUnusable: .proxy
        case .other: .other
        }
    }

    private var errorText: String { String(cString: strerror(Int32(clamping: detail))) }
}

extension UInt32 {
    /// A number of milliseconds as text: in seconds if it is a whole number of them.
    fileprivate var inSeconds: String { self % 1_000 == 0 ? "\(self / 1_000) s" : "\(self) ms" }
}
