import JunctionSecret

/// Decodes a payload from front to end. It checks each length against the bytes that are left.
struct PayloadReader {
    private let payload: SharedSecret
    private var position = 0

    init(_ payload: SharedSecret) {
        self.payload = payload
    }

    mutating func number<Number: FixedWidthInteger & UnsignedInteger>(
        _: Number.Type = Number.self
    ) throws(FormatFault) -> Number {
        let bytes = try take(Number.bitWidth / 8)
        return payload.withUnsafeBytes { all in
            all[bytes].reduce(0) { $0 << 8 | Number($1) }
        }
    }

    mutating func flag() throws(FormatFault) -> Bool {
        switch try number(UInt8.self) {
        case 0: return false
        case 1: return true
        default: throw FormatFault("a flag that is neither set nor not")
        }
    }

    /// Reads a text. The text must be UTF-8 without control characters, so that it can stand in a header or a URL.
    mutating func text() throws(FormatFault) -> String {
        let bytes = try take(Int(number(UInt32.self)))
        let text = payload.withUnsafeBytes { String(validating: $0[bytes], as: UTF8.self) }
        guard let text, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw FormatFault("a text that is none")
        }
        return text
    }

    mutating func secret() throws(FormatFault) -> SharedSecret {
        let bytes = try take(Int(number(UInt32.self)))
        return payload.withUnsafeBytes { SharedSecret(copying: UnsafeRawBufferPointer(rebasing: $0[bytes])) }
    }

    /// Throws if bytes are left. Otherwise sender and receiver could interpret the payload differently.
    func end() throws(FormatFault) {
        guard position == payload.count else {
            throw FormatFault("a payload with \(payload.count - position) bytes more")
        }
    }

    private mutating func take(_ count: Int) throws(FormatFault) -> Range<Int> {
        guard count <= payload.count - position else { throw FormatFault("a payload that ends too early") }
        defer { position += count }
        return position..<position + count
    }
}
