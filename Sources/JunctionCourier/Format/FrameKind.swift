package import JunctionSecret

/// What a frame of one direction carries.
package protocol FrameKind: RawRepresentable, CaseIterable, Sendable where RawValue == UInt8 {
    /// The most bytes that a payload of this kind may have: known before any memory is given to it.
    var longestPayload: Int { get }
}

/// One message of one direction, and how it looks between the two processes.
package protocol FramedMessage: Sendable {
    associatedtype Kind: FrameKind

    var kind: Kind { get }
    var payload: Payload { get }

    /// Reads the payload of a frame, all of it.
    init(_ kind: Kind, _ payload: SharedSecret) throws(FormatFault)
}
