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
    ///
    /// Do not use this for secrets. The other `decode` writes to memory that the caller can wipe.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        [UInt8](capacity: text.count) { decode(text, into: $0) }
    }

    /// Writes the bytes whose encoded form is the value `text` of a form or a query to the front of `room`, which has
    /// space for as many bytes. There, a `+` is a space.
    ///
    /// - Returns: the number of written bytes, or `nil` if an escape is invalid.
    package static func decode(form text: some Sequence<UInt8>, into room: UnsafeMutableRawBufferPointer) -> Int? {
        decode(text.lazy.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }, into: room)
    }

    private static func decode(_ text: some Sequence<UInt8>, into room: UnsafeMutableRawBufferPointer) -> Int? {
        var written = 0
        var rest = text.makeIterator()
        while var byte = rest.next() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.next().flatMap(Hexadecimal.value(of:)),
                    let low = rest.next().flatMap(Hexadecimal.value(of:))
                else { return nil }
                byte = high << 4 | low
            }
            room[written] = byte
            written += 1
        }
        return written
    }
}

extension [UInt8] {
    /// Fills a new array in place. The result is `nil` if `fill` returns `nil`.
    init?(capacity: Int, decoding fill: (UnsafeMutableRawBufferPointer) -> Int?) {
        var isValid = true
        self.init(unsafeUninitializedCapacity: capacity) { room, count in
            let written = fill(UnsafeMutableRawBufferPointer(room))
            isValid = written != nil
            count = written ?? 0
        }
        guard isValid else { return nil }
    }
}
