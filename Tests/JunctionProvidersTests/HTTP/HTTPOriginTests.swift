import Testing

@testable import JunctionProviders

struct HTTPOriginTests {
    @Test(arguments: [
        ("https://auth.us.junction.com", "https://auth.us.junction.com", "auth.us.junction.com"),
        ("https://auth.us.junction.com/", "https://auth.us.junction.com", "auth.us.junction.com"),
        ("HTTPS://Auth.Example:443//", "https://auth.example", "auth.example"),
        ("https://proxy.example:8443/junction/auth/", "https://proxy.example:8443/junction/auth", "proxy.example:8443"),
        ("http://127.0.0.1:8787", "http://127.0.0.1:8787", "127.0.0.1:8787"),
        ("http://127.9.9.9", "http://127.9.9.9", "127.9.9.9"),
        ("http://localhost:8000/auth", "http://localhost:8000/auth", "localhost:8000"),
        ("http://[::1]:8787", "http://[::1]:8787", "[::1]:8787"),
    ])
    func `a URL is parsed and has one normal form`(text: String, url: String, place: String) throws {
        let origin = try HTTPOrigin(text)

        #expect(origin.url == url)
        #expect(origin.place == place)
    }

    @Test(arguments: [
        "http://auth.us.junction.com", "http://10.0.0.1", "http://128.0.0.1", "http://127.0.0.1.example.com",
        "http://localhost.example.com", "http://[2001:db8::1]", "http://127.1", "http://[::ffff:127.0.0.1]",
    ])
    func `plain http is refused except on loopback`(text: String) {
        let fault = #expect(throws: ProviderConfigurationFault.self) { try HTTPOrigin(text) }

        #expect(fault?.message.contains("loopback only") == true || fault?.message.contains("host") == true)
    }

    @Test(arguments: [
        "", "auth.us.junction.com", "ftp://example.com", "https://", "https://:443", "https://a..b", "https://.",
        "https://exa mple.com", "https://example.com:0", "https://example.com:65536", "https://example.com:+80",
        "https://example.com:", "https://[::1", "https://[nonsense]", "https://[::1]80", "https://example.com/a/../b",
        "https://example.com/?a=b", "https://example.com/#a", "https://example.com?a", "https://example.com/%2e",
        "https://exämple.com", "https://example.com\\@evil.example",
    ])
    func `an invalid URL is refused with the expected form`(text: String) {
        #expect(throws: ProviderConfigurationFault.self) { try HTTPOrigin(text) }
    }

    @Test func `a password in a URL is refused, and the error does not repeat it`() {
        let fault = #expect(throws: ProviderConfigurationFault.self) {
            try HTTPOrigin("https://me:hunter2@example.com")
        }

        #expect(fault?.message.contains("hunter2") == false)
    }
}
