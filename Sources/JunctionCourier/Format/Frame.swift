package import JunctionSecret

/// How a message travels: nine bytes of head, then its payload.
///
///     0          4            8      9
///     │ length   │ transfer   │ kind │ payload: `length` bytes …
///
/// Numbers are in network order. `transfer` tells the transfers of one connection apart; it is zero where a message is
/// about the connection itself.
package enum Frame {
    package static let headCount = 9

    /// A message as bytes, in a box: most of them hold a token.
    ///
    /// - Returns: `nil` for a payload that is longer than its kind allows: the other end would hang up.
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
