/// A buffer to which bytes can be appended, such as an array or a network buffer.
package protocol ByteSink {
    /// Appends a copy of the bytes.
    mutating func append(_ bytes: UnsafeRawBufferPointer)
    mutating func append(_ byte: UInt8)
}

extension ByteSink {
    package mutating func append(_ byte: UInt8) {
        withUnsafeBytes(of: byte) { append($0) }
    }

    /// Appends a literal text.
    package mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}

extension [UInt8]: ByteSink {
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        append(contentsOf: bytes)
    }
}
