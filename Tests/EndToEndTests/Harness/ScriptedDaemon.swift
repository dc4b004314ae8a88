import Foundation

/// Something that answers like a daemon: one connection after the other, as the test wrote it down.
///
/// When the script is at its end, it begins again: two clients that ask the same hear the same.
final class ScriptedDaemon: Sendable {
    /// What becomes of one connection: the request is read, unless nothing is to be read, and this is said; then it ends.
    struct Act: Sendable {
        var reads = true
        /// Each is sent by itself.
        var says: [String] = []
    }

    let path: String
    private let listener: Int32

    init(at path: String, _ script: [Act]) throws {
        self.path = path
        let listener = makeSocket(AF_UNIX, SOCK_STREAM)
        guard UnixAddress(path).withPointer({ bind(listener, $0, $1) }) == 0, listen(listener, 64) == 0 else {
            throw Program.Failure(description: "There is no listener: \(String(cString: strerror(errno)))")
        }
        self.listener = listener
        Thread.detachNewThread {
            while true {
                for act in script {
                    let connection = accept(listener, nil, nil)
                    guard connection >= 0 else {
                        close(listener)
                        return
                    }
                    if act.reads { _ = try? LineReader(connection).next() }
                    for words in act.says { connection.sendAll(Array(words.utf8)) }
                    close(connection)
                }
            }
        }
    }

    /// The thread hears of it and goes.
    deinit { shutdown(listener, Int32(SHUT_RDWR)) }
}
