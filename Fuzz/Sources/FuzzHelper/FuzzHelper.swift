import FuzzDriver
import JunctionNetworkHelper
import JunctionSecret

/// Parses the messages of one side in chunks of any size, expects the same messages as in one chunk, and encodes them
/// again.
@main
enum FuzzHelper {
    static func main() {
        fuzz(fuzzOneInput)
    }
}

/// The first byte selects the sender, the second the size of the chunks, the rest is the sender's bytes.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    guard input.count > 2 else { return 0 }
    let (piece, said) = (Int(input[1]) + 1, Array(input[2...]))
    if input[0] % 2 == 0 {
        look(at: said, piece, DaemonMessage.self)
    } else {
        look(at: said, piece, HelperMessage.self)
    }
    return 0
}

private func look<Message: FramedMessage>(at said: [UInt8], _ piece: Int, _: Message.Type) {
    let whole = Hearing(of: [said[...]], Message.self)
    let pieces = stride(from: 0, to: said.count, by: piece).map { said[$0...].prefix(piece) }

    precondition(Hearing(of: pieces, Message.self) == whole, "The messages depend on the pieces")
    precondition(whole.hasFaults || said.starts(with: whole.written), "What was read is not what is written")
    let isAll = whole.isRefused || whole.isInFrame || whole.hasFaults || whole.written == said
    precondition(isAll, "Something was read over")
}

/// The result of the receiver.
private struct Hearing: Equatable {
    /// The messages, encoded again.
    var written: [UInt8] = []
    var isRefused = false
    var isInFrame = false
    /// Whether some payloads could not be decoded.
    var hasFaults = false

    init<Message: FramedMessage>(of pieces: [ArraySlice<UInt8>], _: Message.Type) {
        var reader = FrameReader<Message>()
        do {
            for piece in pieces {
                try piece.withUnsafeBytes { bytes in
                    try reader.take(bytes) { transfer, message in
                        guard case .success(let message) = message else { return hasFaults = true }
                        guard let frame = Frame.encode(message, of: transfer) else {
                            preconditionFailure("A message was read that cannot be written")
                        }
                        frame.withUnsafeBytes { written += $0 }
                    }
                }
            }
            isInFrame = reader.isInFrame
        } catch {
            isRefused = true
        }
    }
}
