import JunctionJSON
import JunctionProtocol

func json(_ text: String) throws -> JSONValue {
    try JSONValue.parse(Array(text.utf8))
}

func written(_ value: some WireValue) -> String {
    var writer = JSONWriter()
    value.write(to: &writer)
    return String(decoding: writer.take(), as: UTF8.self)
}

func roundTrip<Value: WireValue>(_ value: Value) throws -> Value {
    try Value(reading: json(written(value)))
}

func incoming(_ line: String) -> Incoming {
    let reader = MessageReader()
    return Array(line.utf8).withUnsafeBytes { reader.read($0) }
}

/// Returns the bytes that `body` appends.
func appended(_ body: (inout [UInt8]) -> Void) -> String {
    var bytes: [UInt8] = []
    body(&bytes)
    return String(decoding: bytes, as: UTF8.self)
}
