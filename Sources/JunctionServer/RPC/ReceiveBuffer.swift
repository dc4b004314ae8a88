import JunctionProtocol
import NIOCore

/// The unhandled input of a peer, split into lines.
///
/// Lines are read where SwiftNIO received them; only the beginning of an unfinished line is copied. Handled input is
/// wiped, because it may contain a credential.
struct ReceiveBuffer {
    private var splitter = LineSplitter()
    /// The input. The bytes before its reader index are handled.
    private var unread = ByteBuffer()
    /// Whether the bytes are in memory of SwiftNIO.
    private var isBorrowed = false

    var count: Int { unread.readableBytes }

    mutating func receive(_ bytes: ByteBuffer) {
        isBorrowed = unread.readableBytes == 0
        if isBorrowed {
            unread = bytes
        } else {
            unread.writeImmutableBuffer(bytes)
            bytes.wipeReadableBytes()
        }
    }

    /// Finds the next line, of at most `limit` bytes, and passes it to `handle` without its ending. With `atEnd`, no
    /// input follows, and the last line needs no ending.
    mutating func nextLine(
        atEnd: Bool,
        limit: Int,
        _ handle: (UnsafeRawBufferPointer) -> Void
    ) -> LineSplitter.Line? {
        var splitter = splitter
        splitter.limit = limit
        var start = 0
        let line = unread.withUnsafeReadableBytes { bytes in
            let line = splitter.nextLine(in: bytes, from: &start, atEnd: atEnd)
            if case .complete(let range) = line { handle(UnsafeRawBufferPointer(rebasing: bytes[range])) }
            return line
        }
        self.splitter = splitter
        unread.moveReaderIndex(forwardBy: start)
        return line
    }

    /// Wipes the input, because no more of it will be read.
    mutating func clear() {
        wipe()
        self = ReceiveBuffer()
    }

    /// Moves the remaining input to memory of this buffer, and wipes the handled part.
    mutating func compact() {
        guard isBorrowed || unread.readerIndex > 0 else { return }
        let rest = unread.readableBytes > 0 ? ByteBuffer(bytes: unread.readableBytesView) : ByteBuffer()
        wipe()
        (unread, isBorrowed) = (rest, false)
    }

    private mutating func wipe() {
        unread.moveReaderIndex(to: 0)
        unread.wipeReadableBytes()
    }
}
