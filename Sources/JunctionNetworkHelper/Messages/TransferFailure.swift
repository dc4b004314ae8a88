/// The reason why a transfer ended without a complete answer.
package struct TransferFailure: Equatable, Sendable {
    package enum Cause: UInt8, CaseIterable, Sendable {
        /// The name does not exist, or no name server answered.
        case unresolved = 1
        /// The name was not resolved within `resolve`.
        case resolvedTooLate
        case refused
        /// `detail`: the errno.
        case unreachable
        /// No connection, or no TLS session on it, within `connect`.
        case connectedTooLate
        /// No byte was sent or received for `silence`, or the transfer took longer than `whole`. `detail`: the limit
        /// that was reached, in milliseconds.
        case answeredTooLate
        case untrustedCertificate
        case expiredCertificate
        /// The certificate is not valid yet, by the clock of this machine.
        case futureCertificate
        case certificateForAnotherHost
        case notTLS
        /// The connection closed before the answer was complete.
        case closed
        case notHTTP
        /// The answer's body is longer than `longestAnswer`. `detail`: the status.
        case tooLong
        /// The proxy refused the connection to the server. `detail`: its status, or zero.
        case proxyRefused
        /// `detail`: the limit that was reached, in milliseconds, or zero.
        case proxyUnresolved
        /// `detail`: the errno, or zero.
        case proxyUnreachable
        /// The certificate of a proxy that is reached over TLS is not trusted.
        case proxyUntrusted
        /// The URL of the proxy cannot be used.
        case proxyUnusable
        /// The trusted certificates cannot be read.
        case trustUnusable
        /// The client certificate or its key cannot be used.
        case clientCertificateUnusable
        /// The server requires a client certificate, or a different one.
        case clientCertificateRefused
        /// Any other reason. `detail`: the error number of libcurl.
        case other
    }

    package var cause: Cause
    package var detail: UInt32
    /// A part of the request may have reached the server.
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
