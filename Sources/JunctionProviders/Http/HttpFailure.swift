import Glibc
import JunctionSession

/// Why a request brought no complete answer.
struct HttpFailure: Error, Equatable {
    var cause: Cause
    /// Whom it was for: the host, and the port unless it is the usual one.
    var place: String
    /// Any of the request may have reached the server.
    var requestLeft: Bool

    enum Cause: Equatable {
        case unresolved
        case refused
        case unreachable(errno: Int32)
        case noConnection(within: Duration)
        case noTLS(within: Duration)
        case noAnswer(within: Duration)
        case untrustedCertificate
        case certificateForAnotherHost
        case notTLS
        case closed
        case notHTTP
        case tooLong(limit: Int, status: Int)
        case cancelled
        case shutDown
        /// A library's error that has no better words; only the name of its type is kept.
        case unknown(type: String)
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
        case .refused: "Connection refused by \(place)"
        case .unreachable(let number): "\(place) cannot be reached (\(String(cString: strerror(number))))"
        case .noConnection(let limit): "No connection to \(place) within \(limit.inSeconds)"
        case .noTLS(let limit): "No TLS answer from \(place) within \(limit.inSeconds)"
        case .noAnswer(let limit): "No answer from \(place) within \(limit.inSeconds)"
        case .untrustedCertificate: "The certificate of \(place) is not trusted"
        case .certificateForAnotherHost: "The certificate of \(place) is for another host"
        case .notTLS: "\(place) does not speak TLS as expected"
        case .closed: "\(place) closed the connection without a complete answer"
        case .notHTTP: "\(place) did not answer in HTTP"
        case .tooLong(let limit, _): "The answer of \(place) is longer than \(limit) bytes"
        case .cancelled: "The request to \(place) was given up"
        case .shutDown: "The request to \(place) was not made: the daemon is stopping"
        case .unknown(let type): "The request to \(place) failed (\(type))"
        }
    }

    /// What to do, where there is something to do.
    var remedy: String? {
        switch cause {
        case .unresolved: "check the network and its DNS"
        case .refused: "is it running?"
        case .unreachable, .noConnection: "check the network and its firewall"
        case .noTLS: "check the port and any proxy in between"
        case .untrustedCertificate: "add its CA to tls.caFile, or set the clock if that is wrong"
        case .certificateForAnotherHost: "check the URL, or who answers in its place"
        case .notTLS: "check the port and the scheme of the URL"
        case .notHTTP: "check the port"
        case .noAnswer, .closed, .tooLong, .cancelled, .shutDown, .unknown: nil
        }
    }
}

extension Unavailability {
    init(_ failure: HttpFailure) {
        self.init(failure.message, ambiguous: failure.isAmbiguous)
    }
}

extension Duration {
    fileprivate var inSeconds: String {
        let milliseconds = wholeMilliseconds
        return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
    }
}
