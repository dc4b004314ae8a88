import Glibc
import JunctionJSON

@testable import JunctionClient

/// A daemon that does what a test tells it to, one script a connection, over a real socket.
final class ScriptedDaemon: Sendable {
    typealias Script = @Sendable (Peer) -> Void

    /// Where it listens.
    let path: String
    private let directory: String

    /// Makes a place to listen at, and listens unless told to wait.
    convenience init(listening: Bool = true, _ scripts: Script...) {
        self.init(listening: listening, scripts)
    }

    init(listening: Bool = true, _ scripts: [Script]) {
        directory = temporaryDirectory()
        path = "\(directory)/d.sock"
        if listening { listen(scripts) }
    }

    deinit {
        unlink(path)
        rmdir(directory)
    }

    /// Comes up; the connections get the scripts in turn, and after the last one none is accepted.
    func listen(_ scripts: Script...) {
        listen(scripts)
    }

    private func listen(_ scripts: [Script]) {
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let bound = try? SocketPath(path).withAddress { bind(listener, $0, $1) }
        precondition(bound == 0 && Glibc.listen(listener, 16) == 0, "The test's socket could not be made")
        // The thread keeps the daemon alive until each script has its connection, also when the test has not.
        try? startThread { [self] in
            for script in scripts {
                let connection = accept(listener, nil, nil)
                try? startThread {
                    script(Peer(connection))
                    close(connection)
                }
            }
            withExtendedLifetime(self) { _ = close(listener) }
        }
    }

    /// A client of this daemon.
    var client: JunctionClient { JunctionClient(socket: path) }
}

/// The daemon's end of one connection.
final class Peer {
    private let descriptor: Int32
    private var received: [UInt8] = []

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// The next line from the client, as it was written; nothing once the client has gone.
    func line() -> String? {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                defer { received.removeSubrange(...end) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            var chunk = [UInt8](repeating: 0, count: 64 << 10)
            let count = recv(descriptor, &chunk, chunk.count, 0)
            guard count > 0 else { return nil }
            received += chunk[..<count]
        }
    }

    /// The next message from the client.
    func message() -> JSONValue? {
        line().flatMap { try? JSONValue.parse(Array($0.utf8)) }
    }

    /// Takes nothing more; what the client sends from now on, it cannot send.
    func stopListening() {
        _ = shutdown(descriptor, Int32(SHUT_RD))
    }

    /// Blocks until the client has gone, though nothing can come from it any more.
    func waitForEnd() {
        var waited = pollfd(fd: descriptor, events: 0, revents: 0)
        while waited.revents & Int16(POLLHUP) == 0 { poll(&waited, 1, -1) }
    }

    func send(_ line: String) {
        var bytes = Array((line + "\n").utf8)[...]
        while !bytes.isEmpty {
            let sent = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return }
            bytes = bytes.dropFirst(sent)
        }
    }

    func answer(_ message: JSONValue?, _ result: String) {
        send(#"{"jsonrpc":"2.0","id":\#(id(of: message)),"result":\#(result)}"#)
    }

    func refuse(_ message: JSONValue?, _ error: String) {
        send(#"{"jsonrpc":"2.0","id":\#(id(of: message)),"error":\#(error)}"#)
    }

    private func id(of message: JSONValue?) -> String {
        message?["id"].map { String(decoding: $0.rawText, as: UTF8.self) } ?? "null"
    }
}

/// A directory of its own for one test.
func temporaryDirectory() -> String {
    var template = Array("/tmp/junction-client-XXXXXX".utf8CString)
    return mkdtemp(&template).map { String(cString: $0) } ?? ""
}

/// The snapshot of a signed-in user, as a newer daemon might write it.
func snapshotJSON(revision: Int = 17, state: String = "established", durable: Bool = true) -> String {
    """
    {"revision":\(revision),"changedAt":"2026-11-21T06:20:34Z","state":"\(state)",\
    "flags":["configured","signedIn","useSignInToken","shiny"],"provider":"junction","scheme":"signInToken",\
    "userId":"user-1","externalUserId":"joe","teamId":"team-1","environment":"sandbox","region":"us",\
    "accessToken":{"issuedAt":"2026-11-21T06:20:34Z","expiresAt":"2026-11-21T07:20:34Z","generation":3,"more":1},\
    "renewal":{"phase":"scheduled","notBefore":"2026-11-21T07:00:00Z","failures":0,"lastError":null},\
    "termination":null,"storage":{"sealedWith":"file","durable":\(durable),"status":"ok"},"mood":{"x":[1]}}
    """
}

extension Bell {
    /// Blocks a script until the test has come as far.
    func waitForRing() {
        try? waitForInput(from: nil, until: .never, unless: .ringing(self))
        silence()
    }
}
