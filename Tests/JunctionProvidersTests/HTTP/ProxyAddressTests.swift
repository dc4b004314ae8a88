import JunctionSecret
import Testing

@testable import JunctionProviders

struct ProxyAddressTests {
    @Test(
        arguments: [
            ("http://proxy.example:3128", "http://proxy.example:3128", "http://proxy.example:3128"),
            ("HTTP://proxy.example:3128/", "http://proxy.example:3128", "http://proxy.example:3128"),
            ("proxy.example:3128", "http://proxy.example:3128", "http://proxy.example:3128"),
            ("kiosk:secret@proxy.example:3128", "http://kiosk:secret@proxy.example:3128", "http://proxy.example:3128"),
            (
                "https://kiosk:p%40ss@[2001:db8::1]:8443", "https://kiosk:p%40ss@[2001:db8::1]:8443",
                "https://[2001:db8::1]:8443"
            ),
            ("socks5h://a%40b:c@10.0.0.1:1080", "socks5h://a%40b:c@10.0.0.1:1080", "socks5h://10.0.0.1:1080"),
            ("socks5://proxy", "socks5://proxy", "socks5://proxy"),
        ]
    )
    func `an address of a proxy is parsed and shown without credentials`(text: String, url: String, place: String)
        throws
    {
        let proxy = try ProxyAddress(text)

        #expect(proxy.url.text == url)
        #expect(proxy.place == place)
        #expect("\(proxy)" == place)
    }

    @Test(
        arguments: [
            "", "http://", "://", "ftp://hunter2@proxy.example", "http://kiosk:hunter2@", "http://kiosk:hunter2@:3128",
            "http://kiosk:hunter2@proxy.example:0", "http://kiosk:hunter2@proxy.example:3128/path",
            "http://kiosk:hunter2@proxy.example:3128?x", "http://kiosk:hunter2@proxy.example:3128#x",
            "http://kiosk:hunt/er2@proxy.example:3128", "http://kiosk:hunter2@proxy example",
            "http://kiosk:hunter2@pröxy", "http://kiosk:12#hunter2@proxy.example:3128",
            "http://kiosk@hunter2@proxy.example",
            "http://kiosk:hunter2?x@proxy.example:3128", "http://kiosk:hunter2\\@proxy.example:3128",
            "socks4://hunter2@proxy.example:1080", "http://kiosk:hunter2@[::1:3128", "http://hunter2@proxy\r\n.example",
            "http://\(String(repeating: "a", count: 4_096)):hunter2@proxy.example",
        ]
    )
    func `an invalid address is refused, and the error does not repeat it`(text: String) {
        let fault = #expect(throws: ProviderConfigurationFault.self) { try ProxyAddress(text) }

        #expect(fault?.message.contains("expected http://[USER:PASSWORD@]HOST:PORT") == true)
        #expect(fault?.message.contains("hunter2") == false)
    }

    @Test func `the description does not contain the credentials`() throws {
        let proxy = try ProxyAddress("http://kiosk:hunter2@proxy.example:3128")
        var dumped = ""
        dump(proxy, to: &dumped)

        for shown in [
            "\(proxy)", String(describing: proxy), String(reflecting: proxy), "\(Optional(proxy) as Any)", dumped,
        ] {
            #expect(!shown.contains("hunter2"))
            #expect(!shown.contains("kiosk"))
        }
    }

    @Test func `two addresses with different credentials differ`() throws {
        let proxy = try ProxyAddress("http://kiosk:hunter2@proxy.example:3128")

        #expect(try proxy == ProxyAddress("kiosk:hunter2@proxy.example:3128/"))
        #expect(try proxy != ProxyAddress("http://kiosk:hunter3@proxy.example:3128"))
    }
}
