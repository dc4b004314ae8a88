import Glibc

/// Why the daemon cannot listen on a socket.
package enum SocketFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// Another program already serves this path. Nothing was changed.
    case servedByAnother(String)
    case impossible(String)

    /// What failed, for which object, and what to do.
    package var description: String {
        switch self {
        case .servedByAnother(let message), .impossible(let message): message
        }
    }

    static func system(_ what: String, _ code: Int32 = errno) -> SocketFault {
        .impossible("\(what): \(String(cString: strerror(code)))")
    }
}
