import Testing

@testable import JunctionServer

struct LineScannerTests {
    private func scan(_ scanner: inout LineScanner, _ text: String) -> Int {
        Array(text.utf8).withUnsafeBytes { scanner.scan($0) }
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: junction\r\n\r\nGET", 34),
        ("\r\n\r\n", 4),
        ("\r\r\n\r\n\r\n", 5),
        ("\r\n\n\r\n\r\nx", 5),
        ("x\r\ny\r\n", 6),
        ("x\n\ny", 4),
        ("", 0),
    ])
    func `a piece ends with the blank line`(text: String, count: Int) {
        var scanner = LineScanner()
        #expect(scan(&scanner, text) == count)
    }

    @Test func `a blank line that arrives in pieces is found, and the next one too`() {
        var scanner = LineScanner()
        for byte in ["x", "\r", "\n", "\r"] { #expect(scan(&scanner, byte) == 1) }
        #expect(scan(&scanner, "\nGET\r\n") == 1)
        #expect(scan(&scanner, "GET\r\n\r\nx") == 7)
    }

    @Test func `a line without CR is remembered until the next head`() {
        var scanner = LineScanner()
        _ = scan(&scanner, "GET / HTTP/1.1\nHost: junction\r\n\r\n")
        #expect(scanner.hasBareLineFeed)
        _ = scan(&scanner, "GET / HTTP/1.1\r\n")
        #expect(!scanner.hasBareLineFeed)
    }
}
