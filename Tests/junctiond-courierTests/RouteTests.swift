import JunctionNetworkHelper
import JunctionSecret
import Testing

@testable import junctiond_courier

struct RouteTests {
    private static let exceptions =
        "example.com, .lan,printer 10.0.0.0/8 192.0.2.7,2001:db8::/33,[2001:db9::1] nonsense/8,1.2.3.4/33"

    @Test(arguments: [
        "example.com", "EXAMPLE.com.", "a.b.example.com", "host.lan", "lan", "printer", "10.255.0.1", "192.0.2.7",
        "[2001:db8:7fff::1]", "[2001:db9:0::1]",
    ])
    func `a host in the exceptions is reached directly`(host: String) {
        #expect(ProxyExceptions(Self.exceptions).cover(host, port: 443))
    }

    @Test(arguments: [
        "example.org", "notexample.com", "com", "plan", "11.0.0.1", "192.0.2.8", "[2001:db8:8000::1]", "[2001:db9::2]",
        "10.0.0.1.example.org", "1.2.3.4", "",
    ])
    func `a host that only resembles an exception is not covered`(host: String) {
        #expect(!ProxyExceptions(Self.exceptions).cover(host, port: 443))
    }

    @Test func `a star covers every host, and an empty list covers none`() {
        #expect(ProxyExceptions("x,*").cover("[::5]", port: 443))
        #expect(ProxyExceptions("*").cover("example.com", port: 443))
        #expect(!ProxyExceptions("").cover("example.com", port: 443))
        #expect(!ProxyExceptions(", . ,").cover("example.com", port: 443))
        #expect(!ProxyExceptions("*.").cover("example.com", port: 443))
    }

    @Test(arguments: ["*.example.com", "*.example.com:8443", "example.com:8443", "192.0.2.7", "*:8443"])
    func `an exception may have a star before a domain, and a port`(exception: String) {
        let exceptions = ProxyExceptions(exception)
        let host = exception == "192.0.2.7" ? "192.0.2.7" : "api.example.com"

        #expect(exceptions.cover(host, port: 8_443))
        #expect(exceptions.cover(host, port: 443) == !exception.hasSuffix(":8443"))
        #expect(!ProxyExceptions(exception + "1").cover(host, port: 8_443))
    }

    @Test func `an address may have a port, too`() {
        #expect(ProxyExceptions("[2001:db8::1]:8443").cover("[2001:db8::1]", port: 8_443))
        #expect(!ProxyExceptions("[2001:db8::1]:8443").cover("[2001:db8::1]", port: 443))
        #expect(ProxyExceptions("2001:db8::8443").cover("[2001:db8::8443]", port: 443))
        #expect(ProxyExceptions("192.0.2.7:80").cover("192.0.2.7", port: 80))
        #expect(!ProxyExceptions("192.0.2.7:80").cover("192.0.2.7", port: 8))
        #expect(!ProxyExceptions("example.com:").cover("example.com", port: 443))
    }

    @Test func `a prefix length need not be a multiple of eight`() throws {
        let network = try #require(NetworkAddress("172.16.0.0"))
        #expect(try #require(NetworkAddress("172.31.255.255")).begins(like: network, bits: 12))
        #expect(!(try #require(NetworkAddress("172.32.0.0")).begins(like: network, bits: 12)))
        #expect(try #require(NetworkAddress("9.9.9.9")).begins(like: network, bits: 0))
        #expect(!(try #require(NetworkAddress("::")).begins(like: network, bits: 0)))
        #expect(!network.begins(like: network, bits: 33))
        #expect(!network.begins(like: network, bits: -1))
    }

    @Test func `every host except loopback and the exceptions is reached through the proxy`() {
        let settings = NetworkSettings(
            proxy: SharedSecret(text: "http://kiosk:secret@proxy.example:3128"),
            noProxy: "example.com"
        )
        #expect(Route(to: "https://api.example.org/v2", by: settings) == .throughProxy(isTLS: false))
        #expect(Route(to: "https://api.example.com:8443/v2", by: settings) == .direct)
        #expect(Route(to: "http://127.0.0.1:8787/", by: settings) == .direct)
        let atPort = NetworkSettings(proxy: settings.proxy, noProxy: "example.com:443,example.org:8443")
        #expect(Route(to: "https://api.example.com/v2", by: atPort) == .direct)
        #expect(Route(to: "https://api.example.org/v2", by: atPort) == .throughProxy(isTLS: false))
        #expect(Route(to: "https://api.example.org:8443/v2", by: atPort) == .direct)
        #expect(Route(to: "http://[::1]/", by: settings) == .direct)
        #expect(Route(to: "https://localhost", by: settings) == .direct)
        #expect(Route(to: "https://app.LocalHost/v2", by: settings) == .direct)
        #expect(Route(to: "https://notlocalhost/v2", by: settings) == .throughProxy(isTLS: false))
        #expect(Route(to: "https://localhost.example.org", by: settings) == .throughProxy(isTLS: false))
    }

    @Test func `without a proxy every host is reached directly`() {
        #expect(Route(to: "https://api.example.org", by: NetworkSettings()) == .direct)
    }

    @Test func `a proxy over TLS is recognised`() {
        let settings = NetworkSettings(proxy: SharedSecret(text: "https://proxy.example:3128"))
        #expect(Route(to: "https://api.example.org", by: settings) == .throughProxy(isTLS: true))
    }
}
