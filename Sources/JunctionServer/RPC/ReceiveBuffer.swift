import JunctionProtocol
import NIOCore

/// The unhandled input of a peer, split into lines.
///
/// Lines are read where SwiftNIO received them; only the beginning of an unfinished line is copied. Handled input is
/// wiped, because it may contain a credential.
struct ReceiveBuffer {
    enum Line {
        /// A line without its ending. It must not be kept after `compact`.
        case complete(ByteBuffer)
        case tooLong
    }

    private var splitter = LineSplitter()
    private var received = ByteBuffer()
    private var unread = ByteBuffer()
    private var isBorrowed = false

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

    /// Returns the next line, of at most `limit` bytes. With `atEnd`, no input follows, and the last line needs no
    /// ending.
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

    /// Wipes the input, because no more of it will be read.
    mutating func clear() {
        unread.wipeReadableBytes()
        self = ReceiveBuffer()
    }

    /// Moves the remaining input to memory of this buffer, and wipes the handled part.
    mutating func compact() {
        guard isBorrowed || unread.readerIndex > received.readerIndex else { return received = ByteBuffer() }
        let rest = unread.readableBytes > 0 ? ByteBuffer(bytes: unread.readableBytesView) : ByteBuffer()
        received.wipeReadableBytes()
        (received, unread, isBorrowed) = (ByteBuffer(), rest, false)
    }
}
