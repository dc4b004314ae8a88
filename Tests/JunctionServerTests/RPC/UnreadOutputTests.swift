import CLinux
import Glibc
import JunctionTesting
import Testing

struct UnreadOutputTests {
    @Test func `unread output is visible, and decreases as the peer reads`() throws {
        let (one, other) = try makeSocketPair()
        defer { for end in [one, other] { close(end) } }
        #expect(clinux_unread_output(one) == 0)

        var bytes = [UInt8](repeating: 1, count: 1_000)
        for _ in 0..<2 { try #require(send(one, bytes, bytes.count, 0) == bytes.count) }
        let all = clinux_unread_output(one)
        #expect(all >= 2_000)

        try #require(recv(other, &bytes, bytes.count, 0) == bytes.count)
        #expect((1..<all).contains(clinux_unread_output(one)))
    }

    @Test func `the unread output of a descriptor that is not a socket is unknown`() {
        #expect(clinux_unread_output(-1) == -EBADF)
    }
}
