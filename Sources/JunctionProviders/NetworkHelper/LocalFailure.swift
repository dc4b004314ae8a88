import Glibc
import JunctionNetworkHelper
import JunctionSession

/// The reason why the daemon itself ended a request: the network helper failed, the request cannot be made, or it is no
/// longer needed.
enum LocalFailure: Error, Equatable {
    case unreachable(HelperUnreachable)
    /// The helper ended before it reported the outcome of the request.
    case died
    /// The helper is connected but sends nothing.
    case silent
    /// The helper did not finish within the limit.
    case late
    case ofAnotherVersion
    /// The helper sent bytes that are not a frame, or a message before its greeting.
    case unintelligible
    /// A message about one transfer cannot be decoded, or is not allowed at that point.
    case malformed
    case requestTooLong
    case tooManyUnderWay
    case cancelled
    case shutDown
}

extension LocalFailure {
    func text(of place: String) -> String {
        switch self {
        case .unreachable(let failure):
            switch failure.place {
            case .program(let path): "The network helper \(path) cannot be started (\(failure.reason))"
            case .socket(let path): "The network helper cannot be reached at \(path) (\(failure.reason))"
            }
        case .died: "The network helper ended before it had the answer of \(place)"
        case .silent: "The network helper sent nothing more about \(place), so the daemon stopped using it"
        case .late: "The network helper did not report the answer of \(place) in time, so the daemon stopped using it"
        case .ofAnotherVersion: "The network helper is of another version than the daemon"
        case .unintelligible:
            "The network helper sent an unintelligible message about \(place), so the daemon stopped using it"
        case .malformed:
            "The network helper reported an invalid answer of \(place), so the daemon ended this request"
        case .requestTooLong: "The request to \(place) is longer than a request may be"
        case .tooManyUnderWay: "The request to \(place) was not made: too many others are waiting for their answers"
        case .cancelled: "The request to \(place) was given up"
        case .shutDown: "The request to \(place) was not made: the daemon is stopping"
        }
    }

    /// The next step for the user, if there is one.
    var remedy: String? {
        switch self {
        case .unreachable(let failure):
            switch failure.place {
            case .program: "install junctiond-courier in the folder of junctiond"
            case .socket where failure.errno == EACCES:
                "it is for its group alone: junctiond.service needs SupplementaryGroups=junctiond-keeper"
            case .socket: "run: systemctl start junctiond-courier.socket"
            }
        case .malformed: "try again; if it stays so, the journal of junctiond-courier@ may say more"
        case .died, .silent, .late, .unintelligible:
            "the next request gets another helper; the journal of junctiond-courier@ has the last messages of this one"
        case .ofAnotherVersion: "an upgrade is half done: restart junctiond"
        case .requestTooLong, .tooManyUnderWay, .cancelled, .shutDown: nil
        }
    }

    var kind: Unavailability.Cause {
        switch self {
        case .unreachable, .died, .silent, .late, .ofAnotherVersion, .unintelligible, .malformed: .networkHelper
        case .requestTooLong, .tooManyUnderWay, .cancelled, .shutDown: .other
        }
    }
}

extension HelperUnreachable {
    fileprivate var reason: String { String(cString: strerror(errno)) }
}
