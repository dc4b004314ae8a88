/// Why there is no complete answer.
package struct TransferFailure: Equatable, Sendable {
    package enum Cause: UInt8, CaseIterable, Sendable {
        /// The name is not known, or nobody could be asked.
        case unresolved = 1
        /// No word about the name within `resolve`.
        case resolvedTooLate
        case refused
        /// `detail`: the errno.
        case unreachable
        /// No connection, or no TLS on it, within `connect`.
        case connectedTooLate
        /// Nothing moved for `silence`, or it was not done within `whole`. `detail`: the limit that was reached, in milliseconds.
        case answeredTooLate
        case untrustedCertificate
        case expiredCertificate
        /// It is valid from a later day on, by our clock.
        case futureCertificate
        case certificateForAnotherHost
        case notTLS
        /// The connection ended without a complete answer.
        case closed
        case notHTTP
        /// The answer's body is longer than `longestAnswer`. `detail`: the status.
        case tooLong
        /// The proxy did not let us through. `detail`: its status, or zero.
        case proxyRefused
        /// `detail`: the limit that was reached, in milliseconds; or zero.
        case proxyUnresolved
        /// `detail`: the errno, or zero.
        case proxyUnreachable
        /// The proxy is reached by TLS, and its certificate is not one that we trust.
        case proxyUntrusted
        /// The URL of the proxy is none that we can use.
        case proxyUnusable
        /// The certificates that are to be trusted cannot be read.
        case trustUnusable
        /// Our own certificate or its key cannot be used.
        case clientCertificateUnusable
        /// The server wants another certificate than ours, or one at all.
        case clientCertificateRefused
        /// A reason without a name of its own. `detail`: the library's number for it.
        case other
    }

    package var cause: Cause
    package var detail: UInt32
    /// Any of the request may have reached the server.
    package var requestLeft: Bool

    package init(_ cause: Cause, detail: UInt32 = 0, requestLeft: Bool) {
        self.cause = cause
        self.detail = detail
        self.requestLeft = requestLeft
    }

    static let longest = 6
}

extension TransferFailure {
    func write(into payload: inout Payload) {
        payload.append(cause.rawValue)
        payload.append(detail)
        payload.append(UInt8(requestLeft ? 1 : 0))
    }

    init(from reader: inout PayloadReader) throws(FormatFault) {
        guard let cause = Cause(rawValue: try reader.number()) else { throw FormatFault("a failure of unknown cause") }
        self.cause = cause
        detail = try reader.number()
        requestLeft = try reader.flag()
    }
}
