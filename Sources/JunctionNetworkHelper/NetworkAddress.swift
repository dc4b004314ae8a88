import Glibc

/// An IPv4 or IPv6 address, as bytes in network order.
package struct NetworkAddress: Equatable {
    /// Four or sixteen bytes.
    package let bytes: [UInt8]

    /// - Parameter text: an address in text form. An IPv6 address may be in brackets.
    package init?(_ text: some StringProtocol) {
        var four = in_addr()
        var six = in6_addr()
        let bare = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : String(text)
        if inet_pton(AF_INET, bare, &four) == 1 {
            bytes = withUnsafeBytes(of: four) { Array($0) }
        } else if inet_pton(AF_INET6, bare, &six) == 1 {
            bytes = withUnsafeBytes(of: six) { Array($0) }
        } else {
            return nil
        }
    }

    /// Returns whether both addresses begin with the same `bits` bits.
    package func begins(like other: NetworkAddress, bits: Int) -> Bool {
        guard bytes.count == other.bytes.count, (0...bytes.count * 8).contains(bits) else { return false }
        let whole = bits / 8
        guard bytes.prefix(whole) == other.bytes.prefix(whole) else { return false }
        guard bits % 8 > 0 else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xFF00 >> (bits % 8))
        return bytes[whole] & mask == other.bytes[whole] & mask
    }
}
