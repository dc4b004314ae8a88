import JunctionSecret

/// A line that somebody types, edited as a terminal edits it, in memory that is wiped.
///
/// The terminal's own editor keeps 4,095 bytes of a line and drops the rest without a word; a token may be longer.
struct TypedLine {
    /// The keys that do not stand for themselves, as the user has set them with `stty`.
    struct Keys {
        /// Takes the last character back.
        var erase: [UInt8]
        /// Takes all of it back.
        var kill: [UInt8]
        /// Ends the input.
        var end: [UInt8]
    }

    private let keys: Keys
    private let room: UnsafeMutableRawBufferPointer
    /// How much was typed and not taken back.
    private(set) var count = 0
    /// How much more there would be if there were space; it is read to its end, or it would be typed into the shell.
    private var surplus = 0

    /// - Parameter room: where the line goes.
    init(in room: UnsafeMutableRawBufferPointer, keys: Keys) {
        self.room = room
        self.keys = keys
    }

    /// Takes what was typed next, and says whether the line goes on.
    mutating func take(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return false
        case _ where keys.end.contains(byte): return false
        case _ where keys.erase.contains(byte): eraseCharacter()
        case _ where keys.kill.contains(byte): while count + surplus > 0 { eraseByte() }
        case _ where count < room.count:
            room[count] = byte
            count += 1
        default: surplus += 1
        }
        return true
    }

    /// A character of UTF-8 has one byte, or one that leads and some that continue.
    private mutating func eraseCharacter() {
        while surplus == 0, count > 1, room[count - 1] & 0xC0 == 0x80 { eraseByte() }
        eraseByte()
    }

    private mutating func eraseByte() {
        if surplus > 0 {
            surplus -= 1
        } else if count > 0 {
            count -= 1
            wipe(UnsafeMutableRawBufferPointer(rebasing: room[count...count]))
        }
    }
}
