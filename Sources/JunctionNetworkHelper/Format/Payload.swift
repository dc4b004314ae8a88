package import JunctionSecret

/// The parts of a payload. `write(into:)` copies each part once, directly into the `Secret` that is sent.
package struct Payload: Sendable {
    private enum Piece: Sendable {
        case number(UInt64, bytes: Int)
        case text(String)
        case secret(SharedSecret)
    }

    private var pieces: [Piece] = []
    package private(set) var count = 0

    package init() {}

    /// Makes a payload that consists of these bytes only.
    package init(_ bytes: SharedSecret) {
        pieces = [.secret(bytes)]
        count = bytes.count
    }

    mutating func append(_ number: some FixedWidthInteger & UnsignedInteger) {
        let bytes = number.bitWidth / 8
        pieces.append(.number(UInt64(number), bytes: bytes))
        count += bytes
    }

    /// Appends a text, preceded by its length.
    mutating func append(_ text: String) {
        append(UInt32(clamping: text.utf8.count))
        pieces.append(.text(text))
        count += text.utf8.count
    }

    /// Appends secret bytes, preceded by their length.
    mutating func append(_ secret: SharedSecret) {
        append(UInt32(clamping: secret.count))
        pieces.append(.secret(secret))
        count += secret.count
    }

    /// Writes the payload to the start of `room`, which has space for `count` bytes.
    func write(into room: UnsafeMutableRawBufferPointer) {
        var end = 0
        for piece in pieces {
            switch piece {
            case .number(let number, let bytes):
                for index in 0..<bytes {
                    room[end + index] = UInt8(truncatingIfNeeded: number >> (8 * UInt64(bytes - 1 - index)))
                }
                end += bytes
            case .text(var text):
                text.withUTF8 { UnsafeMutableRawBufferPointer(rebasing: room[end...]).copyMemory(from: .init($0)) }
                end += text.utf8.count
            case .secret(let secret):
                secret.withUnsafeBytes {
                    UnsafeMutableRawBufferPointer(rebasing: room[end...]).copyMemory(from: $0)
                }
                end += secret.count
            }
        }
    }
}
