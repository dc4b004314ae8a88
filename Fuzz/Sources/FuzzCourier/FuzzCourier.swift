import FuzzDriver
import JunctionCourier
import JunctionSecret

/// Reads what one end says in arbitrary pieces, expects the messages that it has in one piece, and writes them again.
@main
enum FuzzCourier {
    static func main() {
        fuzz(fuzzOneInput)
    }
}

/// The first byte says who speaks, the second the size of the pieces, the rest is what is said.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    guard input.count > 2 else { return 0 }
    let (piece, said) = (Int(input[1]) + 1, Array(input[2...]))
    if input[0] % 2 == 0 {
        look(at: said, piece, DaemonMessage.self)
    } else {
        look(at: said, piece, CourierMessage.self)
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

/// What the other end makes of it.
private struct Hearing: Equatable {
    /// The messages, as they would be sent.
    var written: [UInt8] = []
    var isRefused = false
    var isInFrame = false
    /// Payloads could not be read.
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
