import CLinux
import Glibc
import Testing

struct UnreadOutputTests {
    @Test func `what the other end has not read is seen from here, and falls as it reads`() throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        #expect(clinux_unread_output(ends[0]) == 0)

        var bytes = [UInt8](repeating: 1, count: 1_000)
        for _ in 0..<2 { try #require(send(ends[0], bytes, bytes.count, 0) == bytes.count) }
        let all = clinux_unread_output(ends[0])
        #expect(all >= 2_000)

        try #require(recv(ends[1], &bytes, bytes.count, 0) == bytes.count)
        #expect((1..<all).contains(clinux_unread_output(ends[0])))
    }

    @Test func `what is no socket cannot say`() {
        #expect(clinux_unread_output(-1) == -EBADF)
    }
}
