import JunctionSecret
import Testing

struct WipedQueueTests {
    @Test(arguments: [1, 7, 4_096, 32_768, 100_000])
    func `bytes are taken in the order in which they were appended`(piece: Int) {
        let all = (0..<250_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var queue = WipedQueue()
        var out: [UInt8] = []
        var rest = all[...]

        while !rest.isEmpty || queue.count > 0 {
            let next = Array(rest.prefix(piece))
            next.withUnsafeBytes { queue.append($0) }
            rest = rest.dropFirst(piece)
            queue.take(atMost: piece / 2 + 1) { out += $0 }
            if queue.count > 60_000 { while queue.count > 0 { queue.take(atMost: .max) { out += $0 } } }
        }

        #expect(out == all)
    }

    @Test(arguments: [0, 1, 32_767, 32_768, 100_000])
    func `all bytes are taken into one secret`(count: Int) {
        let all = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var queue = WipedQueue()
        for byte in all { withUnsafeBytes(of: byte) { queue.append($0) } }

        let taken = queue.takeAll().withUnsafeBytes { Array($0) }
        #expect(taken == all)
        #expect(queue.count == 0)
    }

    @Test func `an empty queue returns no bytes`() {
        var queue = WipedQueue()

        #expect(queue.take(atMost: 10) { $0.count } == 0)
        #expect(queue.count == 0)
    }
}
