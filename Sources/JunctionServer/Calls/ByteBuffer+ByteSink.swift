import JunctionProtocol
import JunctionSecret
import NIOCore

extension ByteBuffer: ByteSink {
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        writeBytes(bytes)
    }
}

extension ByteBuffer {
    /// Overwrites the readable bytes, even if other buffers share them.
    ///
    /// Use this only for bytes that are not needed any more: SwiftNIO's receive buffer, which SwiftNIO is about to fill
    /// again.
    func wipeReadableBytes() {
        withUnsafeReadableBytes { wipe(UnsafeMutableRawBufferPointer(mutating: $0)) }
    }
}
