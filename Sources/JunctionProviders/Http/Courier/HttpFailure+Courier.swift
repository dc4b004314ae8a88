import Glibc
import JunctionCourier

extension HttpFailure.Cause {
    /// What the courier says, with the limits that it was given.
    init(_ failure: TransferFailure, _ transfer: OutgoingTransfer) {
        let limits = transfer.limits
        switch failure.cause {
        case .unresolved: self = .unresolved
        case .resolvedTooLate: self = .noName(within: .milliseconds(limits.resolve))
        case .refused: self = .refused
        case .unreachable: self = .unreachable(errno: Int32(clamping: failure.detail))
        case .connectedTooLate: self = .noConnection(within: .milliseconds(limits.connect))
        case .answeredTooLate: self = .noAnswer(within: .milliseconds(failure.detail))
        case .untrustedCertificate: self = .untrustedCertificate
        case .expiredCertificate: self = .expiredCertificate
        case .futureCertificate: self = .futureCertificate
        case .certificateForAnotherHost: self = .certificateForAnotherHost
        case .notTLS: self = .notTLS
        case .closed: self = .closed
        case .notHTTP: self = .notHTTP
        case .tooLong: self = .tooLong(limit: transfer.call.longestAnswer, status: Int(failure.detail))
        case .proxyRefused: self = .proxyRefused(status: Int(failure.detail))
        case .proxyUnresolved where failure.detail > 0:
            self = .noProxyName(within: .milliseconds(failure.detail))
        case .proxyUnresolved: self = .proxyUnresolved
        case .proxyUnreachable: self = .proxyUnreachable(errno: Int32(clamping: failure.detail))
        case .proxyUntrusted: self = .proxyUntrusted
        case .proxyUnusable: self = .proxyUnusable
        case .trustUnusable: self = .trustUnusable
        case .clientCertificateUnusable: self = .clientCertificateUnusable
        case .clientCertificateRefused: self = .clientCertificateRefused
        case .other: self = .unknown(number: Int(failure.detail))
        }
    }
}

/// What can be wrong with the courier itself.
enum CourierTrouble: Equatable, Sendable {
    case unreachable(CourierUnreachable)
    /// It went before it had said how the request ended.
    case died
    /// It is there and says nothing.
    case silent
    /// It does not come to an end.
    case late
    case ofAnotherVersion
    /// What it sends is no frame, or comes before its greeting.
    case unintelligible
    /// A message about one transfer cannot be read, or cannot come there.
    case malformed
}

extension CourierTrouble {
    /// What happened.
    func detail(for place: String) -> String {
        switch self {
        case .unreachable(let failure):
            switch failure.place {
            case .program(let path): "The network courier \(path) cannot be started (\(failure.reason))"
            case .socket(let path): "No network courier can be had at \(path) (\(failure.reason))"
            }
        case .died: "The network courier ended before it had the answer of \(place)"
        case .silent: "The network courier does not say anything about \(place) any more, and was given up"
        case .late: "The network courier has not brought the answer of \(place) in its time, and was given up"
        case .ofAnotherVersion: "The network courier is of another version than the daemon"
        case .unintelligible: "The network courier said of \(place) what makes no sense, and was given up"
        case .malformed:
            "The network courier brought an answer of \(place) that cannot be one, and this request was ended"
        }
    }

    /// What to do.
    var remedy: String {
        switch self {
        case .unreachable(let failure):
            switch failure.place {
            case .program: "it belongs beside junctiond: install it there"
            case .socket where failure.errno == EACCES:
                "it is for its group alone: junctiond.service needs SupplementaryGroups=junctiond-keeper"
            case .socket: "run: systemctl start junctiond-courier.socket"
            }
        case .malformed: "try again; if it stays so, the journal of junctiond-courier@ may say more"
        case .died, .silent, .late, .unintelligible:
            "the next request gets another one; its last words are in the journal of junctiond-courier@"
        case .ofAnotherVersion: "an upgrade is half done: restart junctiond"
        }
    }
}

extension CourierUnreachable {
    fileprivate var reason: String { String(cString: strerror(errno)) }
}
