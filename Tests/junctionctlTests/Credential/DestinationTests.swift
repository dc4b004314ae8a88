import Testing

@testable import junctionctl

/// The hosts that may get a token, and the URLs that programs ask about.
struct DestinationTests {
    @Test(arguments: [
        ("git.example.com", "https://git.example.com/x.git"), ("git.example.com", "https://git.example.com:443"),
        ("git.example.com", "https://GIT.example.COM/"), ("Git.Example.com", "https://git.example.com"),
        ("git.example.com:8443", "https://git.example.com:8443/a?b#c"),
        ("*.example.com", "https://git.example.com"), ("*.example.com:8443", "https://git.example.com:8443"),
        ("127.0.0.1:5000", "http://127.0.0.1:5000/"),
        ("localhost", "http://localhost"), ("[::1]:3000", "http://[::1]:3000/x"),
        ("[2001:db8::1]", "https://[2001:DB8::1]/"),
    ])
    func `a named host gets the token`(pattern: String, url: String) throws {
        #expect([try #require(HostPattern(pattern))].allow(Destination(url: url)))
    }

    @Test(arguments: [
        // Another host, or another port of the same host.
        ("git.example.com", "https://example.com"), ("git.example.com", "https://git.example.com.evil.org"),
        ("git.example.com", "https://evilgit.example.com"), ("git.example.com", "https://git.example.com:8443"),
        ("git.example.com:8443", "https://git.example.com"),
        // A wildcard is one label, as in a certificate.
        ("*.example.com", "https://example.com"), ("*.example.com", "https://a.b.example.com"),
        ("*.example.com", "https://.example.com"), ("*.example.com", "https://evilexample.com"),
        // Unencrypted over a network, or by a protocol without TLS.
        ("git.example.com", "http://git.example.com:443"), ("git.example.com", "http://git.example.com"),
        ("git.example.com", "ftp://git.example.com"), ("git.example.com", "://git.example.com"),
        // Without a scheme, so possibly unencrypted.
        ("git.example.com", "git.example.com/mcp"), ("git.example.com:6443", "git.example.com:6443"),
        ("git.example.com", "//git.example.com"), ("127.0.0.1:5000", "127.0.0.1:5000"),
        // Text that programs read in different ways.
        ("git.example.com", "https://git.example.com@evil.org/"),
        ("git.example.com", "https://git.example.com\\@evil.org/"),
        ("git.example.com", "https://evil.org\\git.example.com"), ("git.example.com", "https://u:p@git.example.com"),
        ("git.example.com", "https://git.example.com%2eevil.org"), ("git.example.com", "https://git.example.com."),
        ("git.example.com", "https://git.example.com\n"), ("git.example.com", "https://git.example.com:0443x"),
        ("git.example.com", "https://git.example.com:"), ("git.example.com", "https://git.example.com:99999"),
        ("git.example.com", "https://git.example.com:+443"), ("git.example.com", "https://gıt.example.com"),
        ("git.example.com", ""), ("git.example.com", "https://"), ("[::1]", "https://[::1"),
        ("[::1]", "https://[::1]x"),
    ])
    func `another server gets none`(pattern: String, url: String) throws {
        #expect(![try #require(HostPattern(pattern))].allow(Destination(url: url)))
    }

    @Test(arguments: [
        "", "*", "*.", "*.com", "*.*.example.com", "a*.example.com", "https://git.example.com", "git.example.com/x",
        "git.example.com:", "git.example.com:0", "git.example.com:65536", "git example.com", "u@git.example.com",
        "[::1",
        "*.[::1]", "a..b", ".a", "a.", "ü.example.com",
    ])
    func `a text that names no host is refused`(text: String) {
        #expect(HostPattern(text) == nil)
    }

    @Test(arguments: [
        ("r.example.com", "r.example.com/v2/"), ("127.0.0.1:5000", "127.0.0.1:5000"),
        ("r.example.com", "https://r.example.com/v2/"),
    ])
    func `Docker may name a registry without a scheme`(pattern: String, registry: String) throws {
        #expect([try #require(HostPattern(pattern))].allow(Destination(registry: registry)))
        #expect(Destination(registry: "http://r.example.com") == nil)
    }

    @Test func `no host allows nothing`() {
        #expect(![HostPattern]().allow(Destination(url: "https://git.example.com")))
    }
}
