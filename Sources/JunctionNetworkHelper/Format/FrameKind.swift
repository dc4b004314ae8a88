package import JunctionSecret

/// The kind of a frame in one direction.
package protocol FrameKind: RawRepresentable, CaseIterable, Sendable where RawValue == UInt8 {
    /// The longest payload of this kind, in bytes. The reader checks it before it allocates memory.
    var longestPayload: Int { get }
}

/// A message in one direction, and its encoding between the two processes.
package protocol FramedMessage: Sendable {
    associatedtype Kind: FrameKind

    var kind: Kind { get }
    var payload: Payload { get }

    /// Decodes the whole payload of a frame.
    init(_ kind: Kind, _ payload: SharedSecret) throws(FormatFault)
}
