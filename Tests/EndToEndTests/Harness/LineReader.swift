import Foundation

/// Reads a descriptor line by line, and waits for the next line, but not for ever.
final class LineReader {
    private let descriptor: Int32
    private let patience: Int
    private var buffer = Data()

    /// - Parameter patience: how many seconds of silence are a failure.
    init(_ descriptor: Int32, patience: Int = 60) {
        self.descriptor = descriptor
        self.patience = patience
    }

    /// The next line without its end; `nil` when there is no more.
    func next() throws -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                defer { buffer.removeSubrange(...end) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            guard try fill() else { return nil }
        }
    }

    /// So many bytes, or as many as there are before the end.
    func bytes(_ count: Int) throws -> Data {
        while buffer.count < count, try fill() {}
        defer { buffer.removeFirst(min(count, buffer.count)) }
        return buffer.prefix(count)
    }

    /// Everything up to the end.
    func rest() throws -> Data {
        while try fill() {}
        return buffer
    }

    private func fill() throws -> Bool {
        var asked = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&asked, 1, Int32(patience * 1_000)) > 0 else {
            throw Program.Failure(description: "Nothing came for \(patience) s")
        }
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = read(descriptor, &chunk, chunk.count)
        guard count > 0 else { return false }
        buffer.append(contentsOf: chunk.prefix(count))
        return true
    }
}
