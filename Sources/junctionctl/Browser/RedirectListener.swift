import Glibc
import JunctionClient
import JunctionProtocol
import JunctionSecret

/// A port on loopback to which the browser comes back (RFC 8252 §7.3), open until the code is there.
///
/// Whoever else connects neither ends the wait nor holds it up: there are a few visitors at a time, each of whom has
/// room for one request and a short time. A browser itself opens connections that it does not use.
final class RedirectListener {
    private let descriptor: Int32
    private var visitors: [Visitor] = []

    /// Where the browser is to come back to.
    let address: String

    private static let mostVisitors = 8

    init() throws {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let listener = socket(AF_INET, kind, 0)
        guard listener >= 0 else { throw CommandFailure(noPort: errno) }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let hasFailed = withUnsafeMutablePointer(to: &name) { name in
            name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                bind(listener, name, length) != 0 || listen(listener, 64) != 0
                    || getsockname(listener, name, &length) != 0
            }
        }
        guard !hasFailed else {
            let number = errno
            close(listener)
            throw CommandFailure(noPort: number)
        }
        descriptor = listener
        address = "http://127.0.0.1:\(UInt16(bigEndian: name.sin_port))\(Redirect.path)"
    }

    deinit {
        close(descriptor)
    }

    /// Waits for the code.
    ///
    /// - Parameter state: what only the page that we asked for can know.
    func code(for state: SecretText, by deadline: Deadline) throws -> SecretText {
        while !deadline.hasPassed {
            visitors.removeAll(where: \.deadline.hasPassed)
            for visitor in try readable(by: deadline) {
                let redirect = visitor.read(state: state)
                if let page = AnswerPage(for: redirect) {
                    visitor.answer(page)
                    visitors.removeAll { $0 === visitor }
                }
                switch redirect {
                case .code(let code): return code
                case .refused(let words): throw CommandFailure(refused: words)
                case .incomplete, .foreign: continue
                }
            }
        }
        throw CommandFailure(
            "the browser did not come back in time",
            kind: "timedOut",
            remedy: "nothing has changed; run it again, or use 'junctionctl sign-in --device'",
            status: .temporary
        )
    }

    /// The visitors who have said something, once that is so, or once somebody's time is over.
    private func readable(by deadline: Deadline) throws -> [Visitor] {
        var waited = ([descriptor] + visitors.map(\.descriptor)).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        let timeout = ([deadline] + visitors.map(\.deadline)).map(\.pollTimeout).min() ?? 0
        guard poll(&waited, nfds_t(waited.count), timeout) > 0 else { return [] }
        let readable = zip(visitors, waited.dropFirst()).filter { $1.revents != 0 }.map(\.0)
        if waited[0].revents != 0 { accept() }
        return readable
    }

    private func accept() {
        let visitor = Glibc.accept(descriptor, nil, nil)
        guard visitor >= 0 else { return }
        _ = fcntl(visitor, F_SETFD, FD_CLOEXEC)
        // The newest is the most likely one.
        if visitors.count == Self.mostVisitors { visitors.removeFirst() }
        visitors.append(Visitor(visitor))
    }
}

/// One connection to the port.
private final class Visitor {
    let descriptor: Int32
    let deadline = Deadline.after(.seconds(10))
    private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 1)
    private var count = 0

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        wipe(room)
        room.deallocate()
        close(descriptor)
    }

    /// Takes what has come, and looks what it is by now.
    func read(state: SecretText) -> Redirect {
        let received = recv(descriptor, room.baseAddress! + count, room.count - count, Int32(MSG_DONTWAIT))
        if received < 0, errno == EAGAIN || errno == EINTR { return .incomplete }
        guard received > 0 else { return .foreign(.unreadable) }
        count += received
        let redirect = Redirect(reading: UnsafeRawBufferPointer(rebasing: room[..<count]), state: state)
        return redirect == .incomplete && count == room.count ? .foreign(.unreadable) : redirect
    }

    /// An answer is short enough for the kernel to take it at once; whoever does not read it does without.
    func answer(_ page: AnswerPage) {
        var text = page.response
        text.withUTF8 { _ = send(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)) }
        shutdown(descriptor, Int32(SHUT_WR))
    }
}

extension CommandFailure {
    /// The kernel was asked for any port that is free, so that one is used can only mean that all are.
    init(noPort number: Int32) {
        let why = number == EADDRINUSE ? "every port of this machine is in use" : String(cString: strerror(number))
        self.init(
            "there is no port for the browser to come back to: \(why)",
            kind: "localFailure",
            remedy: "use 'junctionctl sign-in --device'",
            status: .temporary
        )
    }

    fileprivate init(refused words: String) {
        self.init(
            "the provider did not sign anybody in: \(words)",
            kind: "invalidCredential",
            remedy: "nothing has changed; run it again to try once more"
        )
    }
}
