import Foundation

/// A host on loopback whose clock differs from ours, which the sandbox's cannot: it answers every request the same way.
final class ClockedHost: Sendable {
    let url: String
    private let descriptor: Int32

    /// - Parameters:
    ///   - ahead: by how many seconds its clock is ahead of ours.
    ///   - body: what it answers, by its own clock.
    init(ahead: TimeInterval, body: @escaping @Sendable (_ now: Date) -> String = { _ in "{}" }) throws {
        let listener = makeSocket(AF_INET, SOCK_STREAM)
        descriptor = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let failed = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) != 0 || listen(listener, 16) != 0 || getsockname(listener, $0, &size) != 0
            }
        }
        guard !failed else { throw Program.Failure(description: "There is no port for a host: \(errno)") }
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        // The thread closes it, so that it never accepts from a number that has been given to somebody else.
        Thread.detachNewThread {
            defer { close(listener) }
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                Self.answer(connection, at: Date().addingTimeInterval(ahead), body)
                close(connection)
            }
        }
    }

    private static func answer(_ connection: Int32, at now: Date, _ body: (Date) -> String) {
        let lines = LineReader(connection)
        var request: String?
        var length = 0
        // The body of the request has to be read: closing with some of it unread would reset the connection.
        while let line = (try? lines.next())??.trimmingCharacters(in: .whitespacesAndNewlines), !line.isEmpty {
            request = request ?? line
            let halves = line.lowercased().split(separator: ":", maxSplits: 1)
            if halves.first == "content-length" { length = Int(halves[1].trimmingCharacters(in: .whitespaces)) ?? 0 }
        }
        _ = try? lines.bytes(length)
        let text = body(now)
        let head = [
            "HTTP/1.1 200 OK", "date: \(httpDate(now))", "content-type: application/json",
            "content-length: \(text.utf8.count)", "connection: close",
        ]
        let isHead = request?.hasPrefix("HEAD ") == true
        connection.sendAll(Array((head.joined(separator: "\r\n") + "\r\n\r\n" + (isHead ? "" : text)).utf8))
    }

    private static func httpDate(_ date: Date) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.string(from: date)
    }

    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
