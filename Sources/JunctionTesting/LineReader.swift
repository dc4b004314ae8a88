package import Foundation

/// Reads a descriptor line by line, and fails if no data arrives in time.
package final class LineReader {
    private let descriptor: Int32
    private let ownsDescriptor: Bool
    private let patience: Int
    private var buffer = Data()
    /// Whether a read failed, as it does when the peer closed the connection with unread data. Bytes sent before that
    /// were read.
    package private(set) var wasReset = false

    /// - Parameters:
    ///   - ownsDescriptor: Whether the descriptor is closed on deinitialization.
    ///   - patience: The number of seconds without data that count as a failure.
    package init(_ descriptor: Int32, ownsDescriptor: Bool = false, patience: Int = 60) {
        self.descriptor = descriptor
        self.ownsDescriptor = ownsDescriptor
        self.patience = patience
    }

    /// Returns the next line without its line break. At the end of the data, returns the incomplete last line and then
    /// `nil`.
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

    /// Returns this number of bytes, or fewer at the end of the data.
    package func bytes(_ count: Int) throws -> Data {
        while buffer.count < count, try fill() {}
        defer { buffer.removeFirst(min(count, buffer.count)) }
        return Data(buffer.prefix(count))
    }

    /// Returns the data that has arrived but was not read, or else waits for the next data. Empty at the end.
    package func chunk() throws -> Data {
        if buffer.isEmpty { _ = try fill() }
        defer { buffer = Data() }
        return buffer
    }

    /// Returns all data up to the end.
    package func rest() throws -> Data {
        while try fill() {}
        defer { buffer = Data() }
        return buffer
    }

    /// - Returns: Whether data arrived.
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

    deinit { if ownsDescriptor { close(descriptor) } }
}
