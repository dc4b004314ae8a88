/// Hexadecimal digits, and the hexadecimal text of bytes.
package enum Hexadecimal {
    package static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Returns whether a byte is a digit in the form that `text` writes.
    package static func isLowerCaseDigit(_ byte: UInt8) -> Bool {
        value(of: byte) != nil && !(UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte)
    }

    /// Returns the digit of a number below sixteen, in upper case, as in percent-encoding (RFC 3986, section 2.1).
    package static func upperCaseDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    /// Returns two lower-case digits for each byte.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.flatMap { [digit($0 >> 4), digit($0 & 15)] }, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
