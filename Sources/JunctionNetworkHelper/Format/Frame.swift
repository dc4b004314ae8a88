package import JunctionSecret

/// The encoding of a message: a head of nine bytes, then the payload.
///
///     0          4            8      9
///     │ length   │ transfer   │ kind │ payload: `length` bytes …
///
/// Numbers are in network byte order. `transfer` identifies a transfer within one connection. It is zero in a message
/// about the connection itself.
package enum Frame {
    package static let headCount = 9

    /// Encodes a message into a `Secret`, because most messages hold a token.
    ///
    /// - Returns: `nil` if the payload is longer than its kind allows. The receiver would close the connection.
    package static func encode<Message: FramedMessage>(_ message: Message, of transfer: UInt32) -> Secret? {
        let payload = message.payload
        guard payload.count <= message.kind.longestPayload else { return nil }
        return Secret(capacity: headCount + payload.count) { room in
            room.storeBytes(of: UInt32(payload.count).bigEndian, toByteOffset: 0, as: UInt32.self)
            room.storeBytes(of: transfer.bigEndian, toByteOffset: 4, as: UInt32.self)
            room[8] = message.kind.rawValue
            payload.write(into: UnsafeMutableRawBufferPointer(rebasing: room[headCount...]))
            return headCount + payload.count
        }
    }
}
