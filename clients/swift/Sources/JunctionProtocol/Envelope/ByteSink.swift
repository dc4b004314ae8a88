/// Something that bytes can be appended to: an array, or a network buffer.
package protocol ByteSink {
    /// Copies the bytes to the end.
    mutating func append(_ bytes: UnsafeRawBufferPointer)
    /// Adds a byte to the end.
    mutating func append(_ byte: UInt8)
}

extension ByteSink {
    package mutating func append(_ byte: UInt8) {
        withUnsafeBytes(of: byte) { append($0) }
    }

    /// Copies a text of our own to the end.
    package mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}

extension [UInt8]: ByteSink {
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        append(contentsOf: bytes)
    }
}
