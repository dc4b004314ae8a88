import Glibc
import JunctionClient
import JunctionProtocol
import JunctionSecret

/// A port on loopback to which the browser comes back (RFC 8252 §7.3), open until the code is there.
///
/// Only connections of this process's user count: another user of this machine who has read the address of the provider's page
/// somewhere could otherwise sign in there, and bring a code with which this machine is signed in as them (RFC 8252 §8.1).
///
/// Whoever else connects neither ends the wait nor holds it up: there are a few connections at a time, each of whom has
/// space for one request and a short time. A browser itself opens connections that it does not use.
final class RedirectListener {
    private let descriptor: Int32
    private var visitors: [BrowserConnection] = []

    /// Where the browser is to come back to.
    let address: String
    /// Where the browser is opened. It is sent on from there, so that the address of the provider's page is in no argument,
    /// which every user of this machine could read.
    let startAddress: String
    private let end: SocketOwner.End
    private var hasToldOfRefusal = false

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
        end = SocketOwner.End(name)
        address = "http://127.0.0.1:\(end.port)\(Redirect.path)"
        startAddress = "http://127.0.0.1:\(end.port)\(Redirect.startPath)"
    }

    deinit {
        close(descriptor)
    }

    /// Waits for the code.
    ///
    /// - Parameters:
    ///   - state: what only the page that we asked for can know.
    ///   - page: the provider's, which a browser that was opened here is sent on to.
    func code(for state: SecretText, from page: String?, by deadline: Deadline) throws -> SecretText {
        while !deadline.hasPassed {
            visitors.removeAll(where: \.deadline.hasPassed)
            for connection in try readable(by: deadline) {
                let redirect = connection.read(state: state)
                if let answer = AnswerPage(for: redirect, to: page) {
                    connection.answer(answer)
                    visitors.removeAll { $0 === connection }
                }
                switch redirect {
                case .code(let code): return code
                case .refused(let words): throw CommandFailure(refused: words)
                case .incomplete, .start, .foreign: continue
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

    /// The connections who have said something, once that is so, or once somebody's time is over.
    private func readable(by deadline: Deadline) throws -> [BrowserConnection] {
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
        guard let connection = BrowserConnection(at: descriptor) else { return }
        let user = connection.user(connectedTo: end)
        guard user == geteuid() else { return refuse(connection, of: user) }
        // The newest is the most likely one.
        if visitors.count == Self.mostVisitors { visitors.removeFirst() }
        visitors.append(connection)
    }

    private func refuse(_ connection: BrowserConnection, of user: uid_t?) {
        if let page = AnswerPage(for: .foreign(.otherUser), to: nil) { connection.answer(page) }
        guard !hasToldOfRefusal else { return }
        hasToldOfRefusal = true
        let whose = user.map { "of user \($0)" } ?? "whose user cannot be told"
        StandardError.note("refused a connection \(whose): the browser has to run as user \(geteuid())")
    }
}

/// One connection to the port.
private final class BrowserConnection {
    let descriptor: Int32
    let deadline = Deadline.after(.seconds(10))
    private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 1)
    private var count = 0
    private let end: SocketOwner.End

    /// Accepts the next connection; nothing where there is none any more.
    init?(at listener: Int32) {
        var name = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        descriptor = withUnsafeMutablePointer(to: &name) { name in
            name.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.accept(listener, $0, &length) }
        }
        end = SocketOwner.End(name)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    /// The user who made the connection; nothing where that cannot be told.
    func user(connectedTo other: SocketOwner.End) -> uid_t? {
        guard let user = SocketOwner.user(of: end, connectedTo: other) else { return nil }
        // A connection that was reset meanwhile may have left its place in the table to another one.
        var name = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafeMutablePointer(to: &name) { name in
            name.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) == 0 }
        }
        return isConnected ? user : nil
    }

    deinit {
        wipe(room)
        room.deallocate()
        if descriptor >= 0 { close(descriptor) }
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
