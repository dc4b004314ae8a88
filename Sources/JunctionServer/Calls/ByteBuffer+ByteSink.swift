import JunctionProtocol
import JunctionSecret
import NIOCore

extension ByteBuffer: ByteSink {
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        writeBytes(bytes)
    }
}

extension ByteBuffer {
    /// Overwrites the bytes that are to be read, wherever else they are being looked at.
    ///
    /// Only for bytes that nobody wants any more: the network library's receive buffer, which it is about to fill again.
    func wipeReadableBytes() {
        withUnsafeReadableBytes { wipe(UnsafeMutableRawBufferPointer(mutating: $0)) }
    }
}
