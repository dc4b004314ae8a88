import Glibc
import JunctionClient
import JunctionProtocol
import JunctionSecret

/// A port on loopback for the browser's redirect (RFC 8252 §7.3), open until the code arrives.
///
/// Only connections of this process's user count. Another user of this machine may have seen the address of the
/// provider's page. That user could sign in there and return a code that signs this machine in to their account (RFC
/// 8252 §8.1).
///
/// Other connections neither end the wait nor delay it: there are few connections at a time, and each has space for one
/// request and little time. Browsers themselves open connections that they do not use.
final class RedirectListener {
    private let descriptor: Int32
    private var connections: [BrowserConnection] = []

    let address: String
    /// The address at which the browser is opened. It redirects to the provider's page, so that the address of that
    /// page is never an argument, which every user of this machine could read.
    let startAddress: String
    private let end: SocketOwner.End
    private var hasToldOfRefusal = false

    private static let mostConnections = 8

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
    ///   - state: the `state` of this sign-in, which no other page knows.
    ///   - page: the provider's page, to which an opened browser is redirected.
    func code(for state: SecretText, from page: String?, by deadline: Deadline) throws -> SecretText {
        while !deadline.hasPassed {
            connections.removeAll(where: \.deadline.hasPassed)
            for connection in try readable(by: deadline) {
                let redirect = connection.read(state: state)
                if let answer = AnswerPage(for: redirect, to: page) {
                    connection.answer(answer)
                    connections.removeAll { $0 === connection }
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

    /// Waits, and returns the connections with input. Returns early if a deadline passes.
    private func readable(by deadline: Deadline) throws -> [BrowserConnection] {
        var waited = ([descriptor] + connections.map(\.descriptor)).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        let timeout = ([deadline] + connections.map(\.deadline)).map(\.pollTimeout).min() ?? 0
        guard poll(&waited, nfds_t(waited.count), timeout) > 0 else { return [] }
        let readable = zip(connections, waited.dropFirst()).filter { $1.revents != 0 }.map(\.0)
        if waited[0].revents != 0 { accept() }
        return readable
    }

    private func accept() {
        guard let connection = BrowserConnection(at: descriptor) else { return }
        let user = connection.user(connectedTo: end)
        guard user == geteuid() else { return refuse(connection, of: user) }
        // The newest connection is the most likely one.
        if connections.count == Self.mostConnections { connections.removeFirst() }
        connections.append(connection)
    }

    private func refuse(_ connection: BrowserConnection, of user: uid_t?) {
        if let page = AnswerPage(for: .foreign(.otherUser), to: nil) { connection.answer(page) }
        guard !hasToldOfRefusal else { return }
        hasToldOfRefusal = true
        let whose = user.map { "of user \($0)" } ?? "whose user cannot be told"
        StandardError.note("refused a connection \(whose): the browser has to run as user \(geteuid())")
    }
}

/// One connection of a browser.
private final class BrowserConnection {
    let descriptor: Int32
    let deadline = Deadline.after(.seconds(10))
    private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 1)
    private var count = 0
    private let end: SocketOwner.End

    /// Accepts the next connection. Returns nil if there is none any more.
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

    /// Returns the user who made the connection, or nil if it is unknown.
    func user(connectedTo other: SocketOwner.End) -> uid_t? {
        guard let user = SocketOwner.user(of: end, connectedTo: other) else { return nil }
        // If the connection was reset meanwhile, its line in the table may belong to another one.
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

    /// Reads the available bytes, and classifies the request so far.
    func read(state: SecretText) -> Redirect {
        let received = recv(descriptor, room.baseAddress! + count, room.count - count, Int32(MSG_DONTWAIT))
        if received < 0, errno == EAGAIN || errno == EINTR { return .incomplete }
        guard received > 0 else { return .foreign(.unreadable) }
        count += received
        let redirect = Redirect(reading: UnsafeRawBufferPointer(rebasing: room[..<count]), state: state)
        return redirect == .incomplete && count == room.count ? .foreign(.unreadable) : redirect
    }

    /// Sends the page without waiting. The page fits into the kernel's buffer; a browser that does not read it does not
    /// delay anything.
    func answer(_ page: AnswerPage) {
        var text = page.response
        text.withUTF8 { _ = send(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)) }
        shutdown(descriptor, Int32(SHUT_WR))
    }
}

extension CommandFailure {
    /// The kernel was asked for any free port, so EADDRINUSE means that every port is in use.
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
