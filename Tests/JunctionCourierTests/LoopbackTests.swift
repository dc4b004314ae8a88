import Testing

@testable import JunctionCourier

struct LoopbackTests {
    @Test(arguments: ["localhost", "LOCALHOST", "127.0.0.1", "127.3.2.1", "[::1]", "::1"])
    func `this machine is reached without a proxy`(host: String) {
        #expect(Loopback.isHost(host))
    }

    @Test(arguments: ["localhost.example", "128.0.0.1", "[::2]", "[1::1]", "127.0.0.1.example", "x", "", "["])
    func `another is not`(host: String) {
        #expect(!Loopback.isHost(host))
    }
}
