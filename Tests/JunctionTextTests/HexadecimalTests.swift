import JunctionText
import Testing

struct HexadecimalTests {
    @Test func `every byte has two lower-case digits`() {
        for byte in UInt8.min...UInt8.max {
            let digits = Array(Hexadecimal.text([byte]).utf8)
            #expect(digits.count == 2)
            #expect(digits.allSatisfy(Hexadecimal.isLowerCaseDigit))
            #expect(UInt8(String(decoding: digits, as: UTF8.self), radix: 16) == byte)
        }
        #expect(Hexadecimal.text([]) == "")
        #expect(Hexadecimal.text([0, 0x0F, 0xA5, 0xFF]) == "000fa5ff")
    }

    @Test func `a digit is accepted if the standard library accepts it`() {
        for byte in UInt8.min...UInt8.max {
            let value = Character(Unicode.Scalar(byte)).hexDigitValue
            #expect(Hexadecimal.value(of: byte).map(Int.init) == value)
            let isUpperCase = byte < 0x80 && Character(Unicode.Scalar(byte)).isUppercase
            #expect(Hexadecimal.isLowerCaseDigit(byte) == (value != nil && !isUpperCase))
        }
        #expect((0..<16).map(Hexadecimal.upperCaseDigit) == Array("0123456789ABCDEF".utf8))
    }
}
