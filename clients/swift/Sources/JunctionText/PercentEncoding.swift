/// Strict percent-encoding (RFC 3986): only unreserved characters stay as they are.
///
/// So `+` is always `%2B` and a space always `%20`, which is correct in a query and in a form.
package enum PercentEncoding {
    /// Returns whether a byte is a letter, a digit or one of `-._~`.
    package static func isUnreserved(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || "-._~".utf8.contains(byte)
    }

    /// Writes the encoded form of `bytes` to the start of `room`, which has space for three bytes each.
    ///
    /// - Returns: the number of bytes that were written.
    package static func encode(_ bytes: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer) -> Int {
        var written = 0
        for byte in bytes {
            if isUnreserved(byte) {
                room[written] = byte
                written += 1
            } else {
                room[written] = UInt8(ascii: "%")
                room[written + 1] = Hexadecimal.upperCaseDigit(byte >> 4)
                room[written + 2] = Hexadecimal.upperCaseDigit(byte & 0xF)
                written += 3
            }
        }
        return written
    }

    /// Returns the encoded form of text that is not secret.
    package static func encode(_ text: String) -> String {
        var text = text
        return text.withUTF8 { bytes in
            String(unsafeUninitializedCapacity: bytes.count * 3) { room in
                encode(UnsafeRawBufferPointer(bytes), into: UnsafeMutableRawBufferPointer(room))
            }
        }
    }

    /// Returns the bytes whose encoded form is `text`, or `nil` if an escape is invalid. A `+` stays as it is.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(Hexadecimal.value(of:)),
                let low = rest.next().flatMap(Hexadecimal.value(of:))
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
