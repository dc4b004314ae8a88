import Testing

@testable import junctiond_courier

struct LoopbackTests {
    @Test(arguments: ["http://localhost/a", "http://127.0.0.1:80", "https://127.3.2.1", "http://[::1]:8787/x"])
    func `this machine is reached without a proxy`(url: String) {
        #expect(Loopback.isHost(of: url))
    }

    @Test(arguments: [
        "https://localhost.example", "https://128.0.0.1", "https://[::2]", "https://127.0.0.1.example", "x",
    ])
    func `another is not`(url: String) {
        #expect(!Loopback.isHost(of: url))
    }
}
