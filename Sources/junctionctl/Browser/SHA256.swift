import JunctionSecret

/// SHA-256 of FIPS 180-4, for one short message that is there whole.
///
/// `junctionctl` needs a hash in one place, and every start of it would pay for a library (`docs/dependencies.md`).
/// Nothing in here depends on how fast it is.
enum SHA256 {
    /// The thirty-two bytes that stand for the message.
    static func hash(_ message: UnsafeRawBufferPointer) -> [UInt8] {
        var state = initial
        // The message, a one, zeros, and the number of bits, in whole blocks; it is read from where it lies.
        let blocks = (message.count + 8) / 64 + 1
        let bits = UInt64(message.count) * 8
        func byte(_ index: Int) -> UInt8 {
            if index < message.count { return message[index] }
            if index == message.count { return 0x80 }
            let fromEnd = blocks * 64 - 1 - index
            return fromEnd < 8 ? UInt8(truncatingIfNeeded: bits >> (UInt64(fromEnd) * 8)) : 0
        }
        for block in 0..<blocks {
            var words = (0..<16).map { word in
                (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(byte(block * 64 + word * 4 + $1)) }
            }
            compress(&words, into: &state)
            // They are the message once more.
            words.withUnsafeMutableBytes { wipe($0) }
        }
        return state.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) } }
    }

    /// §6.2.2: one block of sixteen words.
    private static func compress(_ words: inout [UInt32], into state: inout [UInt32]) {
        var work = state
        for round in 0..<64 {
            if round >= 16 { words[round % 16] &+= schedule(words, round) }
            let e = work[4]
            let a = work[0]
            let choice = (e & work[5]) ^ (~e & work[6])
            let majority = (a & work[1]) ^ (a & work[2]) ^ (work[1] & work[2])
            let first =
                work[7] &+ (e.rotated(6) ^ e.rotated(11) ^ e.rotated(25)) &+ choice &+ constants[round]
                &+ words[round % 16]
            let second = (a.rotated(2) ^ a.rotated(13) ^ a.rotated(22)) &+ majority
            work = [first &+ second, a, work[1], work[2], work[3] &+ first, e, work[5], work[6]]
        }
        for index in state.indices { state[index] &+= work[index] }
    }

    /// What is added to the word of sixteen rounds before.
    private static func schedule(_ words: [UInt32], _ round: Int) -> UInt32 {
        let early = words[(round + 1) % 16]
        let late = words[(round + 14) % 16]
        return (early.rotated(7) ^ early.rotated(18) ^ early >> 3) &+ words[(round + 9) % 16]
            &+ (late.rotated(17) ^ late.rotated(19) ^ late >> 10)
    }

    /// The fractional parts of the square roots of the first eight primes.
    private static let initial: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]

    /// The fractional parts of the cube roots of the first sixty-four primes.
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}

extension UInt32 {
    fileprivate func rotated(_ places: UInt32) -> UInt32 { self >> places | self << (32 - places) }
}
