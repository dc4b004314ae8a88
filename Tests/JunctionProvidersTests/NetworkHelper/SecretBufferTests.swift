import JunctionNetworkHelper
import JunctionSecret
import Testing

@testable import JunctionProviders

struct SecretBufferTests {
    @Test func `a content that arrives in single bytes needs no more memory than one part`() {
        let count = 2 * Flow.longestPart + 1
        var buffer = SecretBuffer()
        for number in 0..<count { buffer.append([UInt8(truncatingIfNeeded: number)].inBox) }

        #expect(buffer.capacity == 3 * Flow.longestPart)
        #expect(buffer.whole.withUnsafeBytes { Array($0) } == (0..<count).map { UInt8(truncatingIfNeeded: $0) })
    }

    @Test(arguments: [[], [0], [Flow.longestPart], [Flow.longestPart - 1, 2], [3, Flow.longestPart, 5]])
    func `parts of any size are joined`(sizes: [Int]) {
        var buffer = SecretBuffer()
        var expected: [UInt8] = []
        for (number, size) in sizes.enumerated() {
            let part = [UInt8](repeating: UInt8(number + 1), count: size)
            buffer.append(part.inBox)
            expected += part
        }

        #expect(buffer.whole.withUnsafeBytes { Array($0) } == expected)
        #expect(buffer.count == expected.count)
    }
}

extension [UInt8] {
    fileprivate var inBox: SharedSecret { withUnsafeBytes { SharedSecret(copying: $0) } }
}
