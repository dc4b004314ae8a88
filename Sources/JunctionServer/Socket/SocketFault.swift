import Glibc

/// Why there is no socket to serve.
package enum SocketFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// Somebody serves this path already: nothing was touched.
    case servedByAnother(String)
    /// The socket cannot be had: the path, the directory or the descriptor is not fit for it.
    case impossible(String)

    /// What happened, to what, and what to do.
    package var description: String {
        switch self {
        case .servedByAnother(let message), .impossible(let message): message
        }
    }

    static func system(_ what: String, _ code: Int32 = errno) -> SocketFault {
        .impossible("\(what): \(String(cString: strerror(code)))")
    }
}
