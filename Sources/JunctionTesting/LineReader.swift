package import Foundation

/// Reads a descriptor line by line, and waits for what comes next, but not forever.
package final class LineReader {
    private let descriptor: Int32
    private let patience: Int
    private var buffer = Data()
    /// The peer closed the connection with something unread; the bytes it sent before were read.
    package private(set) var wasReset = false

    /// - Parameter patience: how many seconds of silence are a failure.
    package init(_ descriptor: Int32, patience: Int = 60) {
        self.descriptor = descriptor
        self.patience = patience
    }

    /// The next line without its end; at the end of everything what is left, and then `nil`.
    package func next() throws -> String? {
        var searched = buffer.startIndex
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { buffer.removeSubrange(...end) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            searched = buffer.endIndex
            guard try fill() else { break }
        }
        defer { buffer = Data() }
        return buffer.isEmpty ? nil : String(decoding: buffer, as: UTF8.self)
    }

    /// So many bytes, or as many as there are before the end.
    package func bytes(_ count: Int) throws -> Data {
        while buffer.count < count, try fill() {}
        defer { buffer.removeFirst(min(count, buffer.count)) }
        return Data(buffer.prefix(count))
    }

    /// What has come and was not read, or else what comes next; nothing at the end.
    package func chunk() throws -> Data {
        if buffer.isEmpty { _ = try fill() }
        defer { buffer = Data() }
        return buffer
    }

    /// Everything up to the end.
    package func rest() throws -> Data {
        while try fill() {}
        defer { buffer = Data() }
        return buffer
    }

    /// - Returns: whether something came.
    private func fill() throws -> Bool {
        var asked = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&asked, 1, Int32(patience * 1_000)) > 0 else {
            throw TestFailure(description: "Nothing came for \(patience) s")
        }
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = read(descriptor, &chunk, chunk.count)
        wasReset = wasReset || count < 0
        guard count > 0 else { return false }
        buffer.append(contentsOf: chunk.prefix(count))
        return true
    }
}
