/// How much may be between the two processes: whoever reads slowly slows the sender down.
package enum Flow {
    /// The most bytes of a body in one message.
    package static let longestPart = 1 << 15
    /// What may be under way of one body before the receiver has said anything.
    package static let window = 1 << 18
    /// The most transfers that one courier carries side by side; each may have a connection and a look-up of its own.
    package static let mostTransfers = 256
}
