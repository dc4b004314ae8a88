import Foundation
import JunctionTesting

/// An HTTP server on loopback with a shifted clock, which the sandbox does not offer. All requests get an empty object.
final class ClockedHost: Sendable {
    let url: String
    private let listener: TestListener

    /// - Parameter ahead: The offset of its clock, in seconds.
    init(ahead: TimeInterval) throws {
        listener = try TestListener()
        url = "http://127.0.0.1:\(listener.port)"
        listener.serve { Self.answer($0, at: Date().addingTimeInterval(ahead)) }
    }

    private static func answer(_ connection: TestSocket, at now: Date) {
        var request: String?
        var length = 0
        // Read the body of the request, because closing with unread data would reset the connection.
        while let line = (try? connection.lines.next())??.trimmingCharacters(in: .whitespacesAndNewlines), !line.isEmpty
        {
            request = request ?? line
            let halves = line.lowercased().split(separator: ":", maxSplits: 1)
            if halves.first == "content-length" { length = Int(halves[1].trimmingCharacters(in: .whitespaces)) ?? 0 }
        }
        _ = try? connection.lines.bytes(length)
        let head = [
            "HTTP/1.1 200 OK", "date: \(httpDate(now))", "content-type: application/json",
            "content-length: 2", "connection: close",
        ]
        let isHead = request?.hasPrefix("HEAD ") == true
        try? connection.send(head.joined(separator: "\r\n") + "\r\n\r\n" + (isHead ? "" : "{}"))
    }

    private static func httpDate(_ date: Date) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.string(from: date)
    }

    deinit { listener.stop() }
}
