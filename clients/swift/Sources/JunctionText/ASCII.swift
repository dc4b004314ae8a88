/// The classes of characters that the grammars of RFCs use. All of them are ASCII.
extension UInt8 {
    package var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    package var isASCIILetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
    package var isASCIILetterOrDigit: Bool { isASCIILetter || isASCIIDigit }
    /// Whether the character can be seen: neither a blank nor a control character.
    package var isVisibleASCII: Bool { (0x21...0x7E).contains(self) }
}
