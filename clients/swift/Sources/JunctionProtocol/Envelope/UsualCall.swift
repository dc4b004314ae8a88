import Glibc

/// One of the two calls that are made every second, in the form in which programs write them: it is read without a parser,
/// because there is nothing in it that could be wrong.
///
///     {"jsonrpc":"2.0","id":7,"method":"token.get"}
///     {"jsonrpc":"2.0","id":7,"method":"session.status","params":{}}
///
/// The id is a whole number of up to 18 digits; the line feed follows at once. Whatever differs by a byte is none, and takes
/// the long way through `MessageReader`, which is the truth: `UsualCallTests` and a fuzzer hold this file against it.
package struct UsualCall {
    package enum Kind: CaseIterable, Sendable {
        case sessionStatus
        case tokenGet
    }

    package let kind: Kind
    /// How long it is, with its line feed.
    package let size: Int
    /// Up to the end of its id: its answer begins with the same bytes.
    private let beginning: UnsafeRawBufferPointer

    /// Reads the call that the bytes begin with, if they do. It must not outlive them.
    package init?(atStartOf bytes: UnsafeRawBufferPointer) {
        var text = Text(bytes)
        guard text.skip("{\"jsonrpc\":\"2.0\",\"id\":"), text.skipNumber() else { return nil }
        beginning = UnsafeRawBufferPointer(rebasing: bytes[..<text.position])
        guard text.skip(",\"method\":\"") else { return nil }
        if text.skip("token.get\"") {
            kind = .tokenGet
        } else if text.skip("session.status\"") {
            kind = .sessionStatus
        } else {
            return nil
        }
        guard text.skip("}\n") || text.skip(",\"params\":{}}\n") else { return nil }
        size = text.position
    }

    // MARK: The answer

    private static let middle: StaticString = ",\"result\":"
    private static let end: StaticString = "}\n"

    /// How long the answer is, with its line feed.
    package func sizeOfAnswer(_ result: UnsafeRawBufferPointer) -> Int {
        beginning.count + Self.middle.utf8CodeUnitCount + result.count + Self.end.utf8CodeUnitCount
    }

    /// Writes the answer with its line feed, which is as long as `sizeOfAnswer` says: what `appendResult` and `endLine` write.
    package func writeAnswer(_ result: UnsafeRawBufferPointer, to room: UnsafeMutableRawBufferPointer) {
        precondition(room.count >= sizeOfAnswer(result), "There is no room for an answer")
        guard var place = room.baseAddress, let start = beginning.baseAddress else { return }
        memcpy(place, start, beginning.count)
        place += beginning.count
        memcpy(place, Self.middle.utf8Start, Self.middle.utf8CodeUnitCount)
        place += Self.middle.utf8CodeUnitCount
        if let json = result.baseAddress { memcpy(place, json, result.count) }
        place += result.count
        memcpy(place, Self.end.utf8Start, Self.end.utf8CodeUnitCount)
    }
}

extension UsualCall.Kind {
    /// What the long way calls it.
    package var method: Method {
        switch self {
        case .sessionStatus: .sessionStatus
        case .tokenGet: .tokenGet
        }
    }

    /// What the caller must be allowed to do: as the method says, without looking it up.
    package var capability: Capability {
        switch self {
        case .sessionStatus: .status
        case .tokenGet: .token
        }
    }
}

/// Bytes that are compared with what is expected, from the beginning on.
private struct Text {
    private let bytes: UnsafeRawBufferPointer
    private(set) var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    @inline(__always)
    mutating func skip(_ expected: StaticString) -> Bool {
        let count = expected.utf8CodeUnitCount
        guard let base = bytes.baseAddress, bytes.count - position >= count,
            memcmp(base + position, expected.utf8Start, count) == 0
        else { return false }
        position += count
        return true
    }

    /// A number as JSON has them: no zero before other digits.
    @inline(__always)
    mutating func skipNumber() -> Bool {
        let start = position
        let end = min(bytes.count, start + 18)
        while position < end, bytes[position] &- UInt8(ascii: "0") < 10 { position += 1 }
        return position > start && (bytes[start] != UInt8(ascii: "0") || position == start + 1)
    }
}
