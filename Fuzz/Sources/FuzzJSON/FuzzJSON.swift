import FuzzDriver
import JunctionJSON
import JunctionSecret

/// Parses arbitrary bytes as JSON, reads every value with every accessor, and writes the result.
@main
enum FuzzJSON {
    static func main() {
        fuzz(fuzzOneInput)
    }
}

@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let value = try? JSONValue.parse(UnsafeRawBufferPointer(start: bytes, count: count)) else { return 0 }
    var writer = JSONWriter(capacity: 1)
    copy(value, to: &writer)
    let copied = writer.take()
    guard let again = try? JSONValue.parse(copied) else { fatalError("What was written cannot be read") }
    var second = JSONWriter()
    copy(again, to: &second)
    precondition(second.take() == copied, "What was written reads differently")
    return 0
}

/// Writes a value again, to exercise every accessor and every escape.
private func copy(_ value: JSONValue, to writer: inout JSONWriter) {
    switch value.kind {
    case .null: writer.null()
    case .bool: writer.bool(value.bool ?? false)
    case .number:
        _ = (value.integer, value.unsigned)
        if let number = value.double { writer.double(number) } else { writer.value(value) }
    case .string:
        let text = value.string ?? ""
        precondition(
            value.secret?.withUnsafeBytes { $0.elementsEqual(text.utf8) } == true,
            "Two readings of one string"
        )
        writer.string(text)
    case .array:
        writer.array { writer in
            for element in value.elements { copy(element, to: &writer) }
        }
    case .object:
        writer.object { writer in
            for (name, member) in value.members {
                writer.key(name.string ?? "")
                copy(member, to: &writer)
            }
        }
        _ = value["a"]
    }
}
