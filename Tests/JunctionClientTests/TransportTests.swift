import Testing

@testable import JunctionClient

/// The parts below a connection.
struct TransportTests {
    @Test(arguments: ["", String(repeating: "x", count: SocketPath.longest + 1), "a\u{0}b"])
    func `a path that does not fit into an address is refused`(path: String) {
        let error = #expect(throws: JunctionError.self) { try SocketPath(path).withAddress { _, _ in () } }

        #expect(error?.kind == .invalidSocketPath)
    }

    @Test func `the first attempt comes at once, and the pauses double up to a limit`() {
        var backoff = Backoff(first: .milliseconds(50))

        let delays = (0..<10).map { _ in backoff.nextDelay(chance: 1) }

        #expect(delays.prefix(4) == [.zero, .milliseconds(50), .milliseconds(100), .milliseconds(200)])
        #expect(delays.last == Backoff.longest)
    }

    @Test func `chance shortens a pause by at most half, and success resets the pauses`() {
        var backoff = Backoff(first: .milliseconds(50))
        _ = backoff.nextDelay(chance: 0)

        #expect(backoff.nextDelay(chance: 0) == .milliseconds(25))

        backoff.succeeded()
        #expect(backoff.nextDelay(chance: 0) == .zero)
    }

    @Test func `a pause never exceeds its limit`() {
        var backoff = Backoff()

        let delays = (0..<200).map { _ in backoff.nextDelay(chance: 1) }

        #expect(delays.allSatisfy { $0 <= Backoff.longest })
    }

    @Test func `a buffer grows, and removes bytes from the front`() {
        let buffer = WipedBuffer(capacity: 2)
        for text in ["ab", "cdefg", "", "h"] { Array(text.utf8).withUnsafeBytes { buffer.append($0) } }

        buffer.removeFirst(3)

        #expect(Array(buffer.bytes) == Array("defgh".utf8))
        buffer.removeFirst(5)
        #expect(buffer.count == 0)
    }

    @Test func `removed bytes of a buffer are wiped`() {
        let buffer = WipedBuffer(capacity: 8)
        Array("secret".utf8).withUnsafeBytes { buffer.append($0) }
        let memory = UnsafeRawBufferPointer(start: buffer.bytes.baseAddress, count: 6)

        buffer.removeFirst(4)

        #expect(Array(memory) == Array("et".utf8) + [0, 0, 0, 0])
    }

    @Test func `a wakeUp stays readable until it is silenced`() throws {
        let wakeUp = try WakeUpDescriptor()
        wakeUp.ring()
        wakeUp.ring()

        let heard = #expect(throws: JunctionError.self) {
            try waitForInput(from: nil, until: .never, unless: .ringing(wakeUp))
        }
        wakeUp.silence()
        let silent = #expect(throws: JunctionError.self) {
            try waitForInput(from: nil, until: .after(.zero), unless: .ringing(wakeUp))
        }

        #expect(heard?.kind == .cancelled)
        #expect(silent?.kind == .timedOut)
    }
}
