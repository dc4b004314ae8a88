package import JunctionSecret

/// What goes into a payload, piece by piece; written once, straight into the box in which it is sent.
package struct Payload: Sendable {
    private enum Piece: Sendable {
        case number(UInt64, bytes: Int)
        case text(String)
        case secret(SharedSecret)
    }

    private var pieces: [Piece] = []
    package private(set) var count = 0

    package init() {}

    /// A payload that is nothing but these bytes.
    package init(_ bytes: SharedSecret) {
        pieces = [.secret(bytes)]
        count = bytes.count
    }

    mutating func append(_ number: some FixedWidthInteger & UnsignedInteger) {
        let bytes = number.bitWidth / 8
        pieces.append(.number(UInt64(number), bytes: bytes))
        count += bytes
    }

    /// A text with its length before it.
    mutating func append(_ text: String) {
        append(UInt32(clamping: text.utf8.count))
        pieces.append(.text(text))
        count += text.utf8.count
    }

    /// Secret bytes with their length before them.
    mutating func append(_ secret: SharedSecret) {
        append(UInt32(clamping: secret.count))
        pieces.append(.secret(secret))
        count += secret.count
    }

    /// Writes all of it at the front of `room`, which has space for `count` bytes.
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
