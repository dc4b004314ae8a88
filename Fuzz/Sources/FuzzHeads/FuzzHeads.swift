import FuzzDriver
import JunctionNetworkHelper
import JunctionSecret

@testable import AnswerHeads

/// Parses the head of an answer as the network helper does, encodes it as the helper does, and expects that the daemon
/// decodes the same. No answer of a server may make a frame of the helper invalid.
@main
enum FuzzHeads {
    static func main() {
        fuzz(fuzzOneInput)
    }
}

@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    var head = IncomingHead()
    var rest = input[...]
    while !rest.isEmpty {
        let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.endIndex
        let line = Array(rest[..<end])
        rest = rest[end...]
        switch line.withUnsafeBytes({ head.take($0) }) {
        case .incomplete: continue
        case .unreadable: return 0
        case .complete(let answer): look(at: answer)
        }
    }
    return 0
}

private func look(at sent: AnswerHead) {
    precondition((200..<600).contains(sent.status), "An interim answer was taken for the answer")
    precondition(sent.headers.allSatisfy { FieldText.isToken($0.name.utf8) }, "A name is none")
    precondition(sent.headers.allSatisfy { FieldText.isValue($0.value.utf8) }, "A value is none")
    // A head of many short lines is longer as a frame. If it is too long, the helper reports that it is not HTTP.
    guard let frame = Frame.encode(HelperMessage.head(sent), of: 1) else { return }
    var reader = FrameReader<HelperMessage>()
    var heard: [AnswerHead] = []
    do {
        try frame.withUnsafeBytes { bytes in
            try reader.take(bytes) { (_, message) throws(FormatFault) in
                if case .head(let head) = try message.get() { heard.append(head) }
            }
        }
    } catch {
        preconditionFailure("The daemon does not read what the helper sends: \(error)")
    }
    precondition(heard.count == 1 && heard[0].status == sent.status, "The daemon reads another status")
    precondition(heard[0].headers.elementsEqual(sent.headers, by: ==), "The daemon reads other headers")
    precondition(
        heard[0].bodyLength(answering: "GET") == sent.bodyLength(answering: "GET"),
        "The length is another one"
    )
}
