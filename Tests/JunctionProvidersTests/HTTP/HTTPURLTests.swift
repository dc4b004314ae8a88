import Testing

@testable import JunctionProviders

struct HTTPURLTests {
    @Test(
        arguments: [
            ("https://id.example.com", "/"), ("https://id.example.com/", "/"),
            ("https://id.example.com//api/t/", "//api/t/"),
            ("https://id.example.com/t?p=B2C_1&x=%20", "/t?p=B2C_1&x=%20"), ("https://id.example.com?a=b", "/?a=b"),
            ("http://127.0.0.1:8080/t", "/t"),
        ]
    )
    func `path and query stay unchanged`(text: String, target: String) throws {
        let url = try HTTPURL(text)

        #expect(url.target == target)
        #expect(url.text == text)
    }

    @Test(arguments: [
        "", "id.example.com", "http://id.example.com/", "https://a@id.example.com/", "https://id.example.com/#a",
        "https://id.example.com/a b", "https://id.example.com/\u{7F}", "https://id.example.com/<>",
        "ftp://id.example.com/",
    ])
    func `an unencrypted or invalid URL is refused`(text: String) {
        #expect(throws: ProviderConfigurationFault.self) { try HTTPURL(text) }
    }
}
