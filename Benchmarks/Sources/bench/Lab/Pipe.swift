import Glibc

/// A pipe whose write end goes to a child.
final class Pipe {
    let output: Int32
    let input: Int32
    private var isInputOpen = true

    init() throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Trouble("pipe: \(String(cString: strerror(errno)))") }
        // A server must not inherit the pipe of a client that is started at the same time.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        output = ends[0]
        input = ends[1]
    }

    deinit {
        closeInput()
        close(output)
    }

    func closeInput() {
        if isInputOpen { close(input) }
        isInputOpen = false
    }

    func readToEnd() -> String {
        var text: [UInt8] = []
        while let bytes = readSome() { text += bytes }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads up to and including a line that contains the mark.
    func readLine(containing mark: String) throws -> String {
        var text = ""
        while let bytes = readSome() {
            text += String(decoding: bytes, as: UTF8.self)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            if let line = lines.first(where: { $0.contains(mark) }) { return String(line) }
        }
        throw Trouble("ended before it said '\(mark)': \(text)")
    }

    private func readSome() -> [UInt8]? {
        var patience = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        guard poll(&patience, 1, 30_000) > 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(output, &buffer, buffer.count)
        return count > 0 ? Array(buffer[..<count]) : nil
    }
}
