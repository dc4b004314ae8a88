import JunctionText
import Testing

struct ASCIITests {
    @Test func `a byte is a letter or digit if the standard library says so and it is ASCII`() {
        for byte in UInt8.min...UInt8.max {
            let character = Character(Unicode.Scalar(byte))
            #expect(byte.isASCIIDigit == (character.isASCII && character.isNumber))
            #expect(byte.isASCIILetter == (character.isASCII && character.isLetter))
            #expect(byte.isASCIILetterOrDigit == (byte.isASCIIDigit || byte.isASCIILetter))
        }
    }
}
