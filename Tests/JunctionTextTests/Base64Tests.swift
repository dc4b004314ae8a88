import Foundation
import JunctionText
import Testing

struct Base64Tests {
    // MARK: Strict forms

    @Test func `every form agrees with Foundation, for every length up to 200 bytes`() {
        for count in 0..<200 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
            let expected = Data(bytes).base64EncodedString()
            let unpadded = expected.replacing("=", with: "")
            let urlSafe = unpadded.replacing("+", with: "-").replacing("/", with: "_")
            #expect(Base64.encode(bytes) == expected)
            #expect(Base64.encodeURLSafe(bytes) == urlSafe)
            #expect(Base64.decode(expected.utf8, .standard) == bytes)
            #expect(Base64.decode(expected.utf8, .standardMaybeUnpadded) == bytes)
            #expect(Base64.decode(unpadded.utf8, .standardMaybeUnpadded) == bytes)
            #expect(Base64.decode(urlSafe.utf8, .urlSafe) == bytes)
            for text in [expected, unpadded, urlSafe] { #expect(Base64.decode(text.utf8, .lenient) == bytes) }
        }
    }

    @Test(
        "a strict form takes one text for a value and nothing else",
        arguments: [
            // One digit too many; missing, excess or misplaced padding.
            ("Z", [.standard, .standardMaybeUnpadded, .urlSafe, .lenient]),
            ("Zm9vY", [.standard, .standardMaybeUnpadded, .urlSafe, .lenient]),
            ("Zg", [.standard]), ("Zg=", [.standard, .standardMaybeUnpadded, .urlSafe]), ("Zg==", [.urlSafe]),
            ("Zg===", [.standard, .standardMaybeUnpadded, .urlSafe, .lenient]), ("====", [.standard, .lenient]),
            ("Zg==Zg==", [.standard, .standardMaybeUnpadded, .urlSafe, .lenient]),
            ("=Zg", [.standard, .standardMaybeUnpadded, .urlSafe, .lenient]),
            // Spare bits, another alphabet, white space, invalid digits.
            ("Zh==", [.standard, .standardMaybeUnpadded]), ("Zm9=", [.standard, .standardMaybeUnpadded]),
            ("Zh", [.urlSafe]), ("fn5-", [.standard, .standardMaybeUnpadded]), ("fn5+", [.urlSafe]),
            ("Pz8_", [.standard, .standardMaybeUnpadded]), ("Pz8/", [.urlSafe]),
            (" Zg==", [.standard, .standardMaybeUnpadded, .urlSafe]),
            ("Zm9v!", [.standard, .standardMaybeUnpadded, .urlSafe, .lenient]),
            ("Zm9v\u{0}", [.standard, .standardMaybeUnpadded, .urlSafe, .lenient]),
        ] as [(String, [Base64.Form])]
    )
    func refused(text: String, forms: [Base64.Form]) {
        for form in forms { #expect(Base64.decode(text.utf8, form) == nil, "\(form)") }
    }

    // MARK: Lenient

    @Test(arguments: [
        ("", ""), ("Zg==", "f"), ("Zg", "f"), ("Zm8=", "fo"), ("Zm8", "fo"), ("Zm9v", "foo"), ("Zm9vYg", "foob"),
        (" Zm\n9v\r\nYmFy\t", "foobar"), ("fn5+", "~~~"), ("fn5-", "~~~"), ("Pz8/", "???"), ("Pz8_", "???"),
        ("Zh", "f"), ("Zg=", "f"),
    ])
    func `both alphabets are read, with and without padding and white space`(text: String, expected: String) {
        #expect(Base64.decode(text.utf8, .lenient) == Array(expected.utf8))
    }
}
