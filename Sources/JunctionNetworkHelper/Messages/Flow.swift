/// Limits of the data that is in flight between the two processes. A slow reader slows the sender down.
package enum Flow {
    /// The most bytes of a body in one message.
    package static let longestPart = 1 << 15
    /// The most bytes of one body that a sender may send before the receiver grants more.
    package static let window = 1 << 18
    /// The most concurrent transfers of one network helper. Each may have its own connection and its own name look-up.
    package static let mostTransfers = 256
}
