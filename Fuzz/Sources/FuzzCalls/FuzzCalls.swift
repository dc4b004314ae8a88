import FuzzDriver
import JunctionProtocol

/// Reads arbitrary bytes as one of the usual calls: what is taken for one has to be what the long way makes of it, and to be
/// answered with the same bytes.
@main
enum FuzzCalls {
    static func main() {
        fuzz(fuzzOneInput)
    }
}

@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: bytes, count: count)
    guard let usual = UsualCall(atStartOf: input) else { return 0 }

    var (splitter, size) = (LineSplitter(), 0)
    guard case .complete(let line)? = splitter.nextLine(in: input, from: &size), size == usual.size else {
        fatalError("A usual call that ends elsewhere")
    }
    var reader = MessageReader()
    guard case .single(.request(let call, let id)) = reader.read(UnsafeRawBufferPointer(rebasing: input[line])),
        Method(call.name) == usual.kind.method, call.params == nil
    else { fatalError("A usual call that is something else") }

    // Whatever lies behind the call will do for a result.
    let result = UnsafeRawBufferPointer(rebasing: input[size...])
    var expected: [UInt8] = []
    expected.appendResult(result, for: id)
    expected.endLine()
    let answer = [UInt8](unsafeUninitializedCapacity: usual.sizeOfAnswer(result)) { room, written in
        usual.writeAnswer(result, to: UnsafeMutableRawBufferPointer(room))
        written = usual.sizeOfAnswer(result)
    }
    guard answer == expected else { fatalError("A usual call that is answered otherwise") }
    return 0
}
