import Glibc
import Testing

@testable import JunctionServer

struct PeerProcessTests {
    private static let answers: [(result: Int32, answer: PeerProcessAnswer)] = [
        (0, .opened(0)),
        (17, .opened(17)),
        (-ENOPROTOOPT, .notSupported),
        // The answers of Linux 6.5 to 6.15 for a process that was reaped.
        (-ESRCH, .unknown),
        (-EINVAL, .unknown),
        (-ENODATA, .unknown),
        (-EMFILE, .unknown),
        (-ENOMEM, .unknown),
        (-EOPNOTSUPP, .unknown),
        (-EPERM, .unknown),
    ]

    @Test(arguments: answers)
    func `a process is opened by its number only if the kernel lacks SO_PEERPIDFD`(
        result: Int32,
        answer: PeerProcessAnswer
    ) {
        #expect(PeerProcessAnswer(result) == answer)
    }

    @Test func `a process that the kernel cannot open is not opened by its number`() throws {
        // A pipe has no peer, so the call fails although the kernel supports it.
        var pipe: [Int32] = [0, 0]
        try #require(Glibc.pipe(&pipe) == 0)
        defer { for end in pipe { close(end) } }

        #expect(ProcessHandle(connectedTo: pipe[0], numbered: getpid()) == nil)
    }
}
