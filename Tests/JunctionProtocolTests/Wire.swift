import JunctionJSON
import JunctionProtocol

/// Reads text as a test writes it.
func json(_ text: String) throws -> JSONValue {
    try JSONValue.parse(Array(text.utf8))
}

/// The JSON that a value writes.
func written(_ value: some WireValue) -> String {
    var writer = JSONWriter()
    value.write(to: &writer)
    return String(decoding: writer.take(), as: UTF8.self)
}

/// What comes back when a value is written and read.
func roundTrip<Value: WireValue>(_ value: Value) throws -> Value {
    try Value(reading: json(written(value)))
}

/// What a reader makes of one line.
func incoming(_ line: String) -> Incoming {
    var reader = MessageReader()
    return Array(line.utf8).withUnsafeBytes { reader.read($0) }
}

/// What a sink holds after `body`.
func appended(_ body: (inout [UInt8]) -> Void) -> String {
    var bytes: [UInt8] = []
    body(&bytes)
    return String(decoding: bytes, as: UTF8.self)
}

/// A small generator with a fixed sequence, so that a failure can be repeated.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
