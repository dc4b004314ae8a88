import Testing

@testable import JunctionNetworkHelper

struct LoopbackTests {
    @Test(arguments: ["localhost", "LOCALHOST", "127.0.0.1", "127.3.2.1", "[::1]", "::1"])
    func `a loopback host is on this machine`(host: String) {
        #expect(Loopback.isHost(host))
    }

    @Test(arguments: ["localhost.example", "128.0.0.1", "[::2]", "[1::1]", "127.0.0.1.example", "x", "", "["])
    func `another host is not on this machine`(host: String) {
        #expect(!Loopback.isHost(host))
    }
}
