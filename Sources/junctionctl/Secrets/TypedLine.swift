import JunctionSecret

/// A typed line, edited as a terminal does it, in memory that is wiped.
///
/// The terminal's own line editor keeps 4,095 bytes of a line and drops the rest silently, but a token may be longer.
struct TypedLine {
    /// The editing keys, as the user has set them with `stty`.
    struct Keys {
        /// Deletes the last character.
        var erase: [UInt8]
        /// Deletes the whole line.
        var kill: [UInt8]
        /// Ends the input.
        var end: [UInt8]
    }

    private let keys: Keys
    private let buffer: UnsafeMutableRawBufferPointer
    /// The number of bytes in the line.
    private(set) var count = 0
    /// The number of bytes that do not fit into the buffer. They are read as well, because otherwise the shell would get
    /// them.
    private var surplus = 0

    /// - Parameter buffer: the memory for the line.
    init(in buffer: UnsafeMutableRawBufferPointer, keys: Keys) {
        self.buffer = buffer
        self.keys = keys
    }

    /// Takes one byte. Returns whether the line continues.
    mutating func take(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return false
        case _ where keys.end.contains(byte): return false
        case _ where keys.erase.contains(byte): eraseCharacter()
        case _ where keys.kill.contains(byte): while count + surplus > 0 { eraseByte() }
        case _ where count < buffer.count:
            buffer[count] = byte
            count += 1
        default: surplus += 1
        }
        return true
    }

    /// A UTF-8 character has one byte, or a leading byte and continuation bytes.
    private mutating func eraseCharacter() {
        while surplus == 0, count > 1, buffer[count - 1] & 0xC0 == 0x80 { eraseByte() }
        eraseByte()
    }

    private mutating func eraseByte() {
        if surplus > 0 {
            surplus -= 1
        } else if count > 0 {
            count -= 1
            wipe(UnsafeMutableRawBufferPointer(rebasing: buffer[count...count]))
        }
    }
}
