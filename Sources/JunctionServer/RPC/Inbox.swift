import JunctionProtocol
import NIOCore

/// What a peer has sent and nobody has read yet, cut into lines.
///
/// Lines are read where the network library received them; only the beginning of a line whose end has not come is
/// copied. What was read is wiped, because a credential may have been in it.
struct Inbox {
    enum Line {
        /// Without its ending. It must not be kept past `settle`.
        case complete(ByteBuffer)
        case tooLong
    }

    private var splitter = LineSplitter()
    private var received = ByteBuffer()
    private var unread = ByteBuffer()
    private var isBorrowed = false

    /// The bytes that are not read yet.
    var count: Int { unread.readableBytes }

    mutating func receive(_ bytes: ByteBuffer) {
        isBorrowed = unread.readableBytes == 0
        if isBorrowed {
            unread = bytes
        } else {
            received = ByteBuffer()
            unread.writeImmutableBuffer(bytes)
            bytes.wipeReadableBytes()
        }
        received = unread
    }

    /// The next line, of at most `limit` bytes; `atEnd` when nothing will follow, so that the last line needs no ending.
    mutating func nextLine(atEnd: Bool, limit: Int) -> Line? {
        var splitter = splitter
        splitter.limit = limit
        var start = 0
        let line = unread.withUnsafeReadableBytes { splitter.nextLine(in: $0, from: &start, atEnd: atEnd) }
        self.splitter = splitter
        defer { unread.moveReaderIndex(forwardBy: start) }
        return switch line {
        case .complete(let range):
            unread.getSlice(at: unread.readerIndex + range.lowerBound, length: range.count).map(Line.complete)
        case .tooLong: .tooLong
        case nil: nil
        }
    }

    /// Nothing more will be read.
    mutating func clear() {
        unread.wipeReadableBytes()
        self = Inbox()
    }

    /// Everything that could be read has been: what is left over is moved to memory of our own, the rest is wiped.
    mutating func settle() {
        guard isBorrowed || unread.readerIndex > received.readerIndex else { return received = ByteBuffer() }
        let rest = unread.readableBytes > 0 ? ByteBuffer(bytes: unread.readableBytesView) : ByteBuffer()
        received.wipeReadableBytes()
        (received, unread, isBorrowed) = (ByteBuffer(), rest, false)
    }
}
