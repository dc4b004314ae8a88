import FuzzDriver
import JunctionProtocol

/// Splits arbitrary bytes into lines in chunks of any size, and expects the same lines as in one chunk.
@main
enum FuzzLines {
    static func main() {
        fuzz(fuzzOneInput)
    }
}

/// The first byte is the limit, the second the size of the chunks, the rest is the peer's bytes.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    guard input.count > 2 else { return 0 }
    let (limit, piece) = (Int(input[0] % 32), Int(input[1] % 16) + 1)
    let sent = input.dropFirst(2)

    let whole = lines(of: [sent], limit: limit)
    let pieces = stride(from: sent.startIndex, to: sent.endIndex, by: piece).map { sent[$0...].prefix(piece) }

    precondition(lines(of: pieces, limit: limit) == whole, "The lines depend on the pieces")
    precondition(whole.allSatisfy { $0?.contains(0x0A) != true && ($0?.count ?? 0) <= limit }, "No line")
    return 0
}

/// Returns the lines that result from these chunks and the end of input. `nil` is a line that is too long.
private func lines(of pieces: [ArraySlice<UInt8>], limit: Int) -> [[UInt8]?] {
    var splitter = LineSplitter(limit: limit)
    var unread: [UInt8] = []
    var found: [[UInt8]?] = []
    for index in 0...pieces.count {
        if index < pieces.count { unread += pieces[index] }
        var start = 0
        unread.withUnsafeBytes { bytes in
            while let line = splitter.nextLine(in: bytes, from: &start, atEnd: index == pieces.count) {
                switch line {
                case .complete(let range): found.append(Array(bytes[range]))
                case .tooLong: found.append(nil)
                }
            }
        }
        unread.removeFirst(start)
    }
    return found
}
