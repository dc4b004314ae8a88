import Testing

@testable import JunctionProviders

struct Base64Tests {
    @Test(arguments: [
        ("", ""), ("Zg==", "f"), ("Zg", "f"), ("Zm8=", "fo"), ("Zm8", "fo"), ("Zm9v", "foo"), ("Zm9vYg", "foob"),
        (" Zm\n9v\r\nYmFy\t", "foobar"), ("fn5+", "~~~"), ("fn5-", "~~~"), ("Pz8/", "???"), ("Pz8_", "???"),
    ])
    func `both alphabets are read, with and without padding and white space`(text: String, expected: String) {
        #expect(decode(text) == expected)
    }

    @Test(arguments: ["Z", "Zm9vY", "Zg==Zg==", "Zm9v!", "Zg===", "Zm9v\u{0}", "=Zg"])
    func `what is not Base64 is refused`(text: String) {
        #expect(decode(text) == nil)
    }

    private func decode(_ text: String) -> String? {
        Array(text.utf8).withUnsafeBytes { Base64.decode($0)?.text }
    }
}
