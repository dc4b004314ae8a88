import Glibc
import JunctionClient
import JunctionProtocol

/// The check of the socket without the daemon.
struct SocketCheck {
    var path: SocketPath

    var checks: [Diagnosis.Check] {
        var status = stat()
        guard stat(path.text, &status) == 0 else {
            let why = String(cString: strerror(errno))
            return [
                .init(
                    name: "socket",
                    verdict: .problem,
                    detail: "\(path): \(why)",
                    remedy: "start junctiond, or name its socket with --socket"
                )
            ]
        }
        return [Self.check(path, mode: status.st_mode, owner: status.st_uid, group: status.st_gid)]
    }

    static func check(_ path: SocketPath, mode: mode_t, owner: uid_t, group: gid_t) -> Diagnosis.Check {
        guard mode & S_IFMT == S_IFSOCK else {
            return .init(
                name: "socket",
                verdict: .problem,
                detail: "\(path.text) is not a socket",
                remedy: "move it out of the way and restart junctiond"
            )
        }
        let permissions = "0" + String(mode & 0o777, radix: 8)
        let detail = "\(path.text), \(permissions), owner \(owner), group \(group)"
        guard mode & S_IWOTH == 0 else {
            return .init(
                name: "socket",
                verdict: .problem,
                detail: "\(detail): every user of this machine can connect",
                remedy: "make it 0600, or 0660 with a group for those who may"
            )
        }
        return .init(name: "socket", verdict: .ok, detail: detail)
    }
}
