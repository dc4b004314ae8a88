import JunctionText
import Testing

struct PercentEncodingTests {
    @Test func `only unreserved characters stay as they are`() {
        #expect(PercentEncoding.encode("aZ09-._~ +%&/é") == "aZ09-._~%20%2B%25%26%2F%C3%A9")
    }

    @Test func `escapes are decoded, and all other bytes stay as they are`() {
        #expect(PercentEncoding.decode("a%20b+%2b%2B%C3%A9é".utf8) == Array("a b+++éé".utf8))
        #expect(PercentEncoding.decode("%00%fF".utf8) == [0x00, 0xFF])
    }

    @Test(arguments: ["%", "a%2", "%zz", "%+1", "%1 ", "%%41"])
    func `text with an invalid escape is not decoded`(_ text: String) {
        #expect(PercentEncoding.decode(text.utf8) == nil)
    }
}
