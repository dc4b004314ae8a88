import CSystemd
import Glibc
import Logging

/// An entry of the journal, with a field for every value, so that `journalctl JUNCTIOND_STATE=terminated` finds it.
///
/// The message also contains the values, because `journalctl` shows only the message by default.
package enum JournalEntry {
    /// The metadata key for the kind of an event. Its value has 32 hexadecimal digits and is logged as `MESSAGE_ID`.
    package static let messageIdentifierKey = "messageId"

    /// Returns the fields of an event, each as `NAME=value`.
    static func fields(of event: LogEvent, _ text: LogText) -> [String] {
        var fields = [
            "MESSAGE=" + text.line,
            "PRIORITY=\(event.level.priority)",
            "CODE_FILE=\(event.file)",
            "CODE_LINE=\(event.line)",
            "CODE_FUNC=\(event.function)",
        ]
        for (key, value) in text.values {
            fields.append(fieldName(for: key) + "=" + value)
        }
        return fields
    }

    /// Returns the journal's field name for a key: `peerUnit` becomes `JUNCTIOND_PEER_UNIT`. Characters that the
    /// journal does not accept become `_`.
    private static func fieldName(for key: String) -> String {
        if key == messageIdentifierKey { return "MESSAGE_ID" }
        var name = "JUNCTIOND_"
        var previousIsLower = false
        for byte in key.utf8.prefix(longestKey) {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"):
                name.append(Character(Unicode.Scalar(byte - 32)))
            case UInt8(ascii: "A")...UInt8(ascii: "Z"):
                if previousIsLower { name.append("_") }
                name.append(Character(Unicode.Scalar(byte)))
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                name.append(Character(Unicode.Scalar(byte)))
            default:
                name.append("_")
            }
            previousIsLower = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        }
        return name
    }

    /// The journal ignores a field whose name is longer than 64 characters. Underscores can double the length of a key.
    private static let longestKey = 27

    static func send(_ fields: [String]) {
        var bytes = fields.flatMap(\.utf8)
        bytes.withUnsafeMutableBytes { buffer in
            var next = buffer.baseAddress
            let entry = fields.map { field in
                let length = field.utf8.count
                defer { next = next.map { $0 + length } }
                return iovec(iov_base: next, iov_len: length)
            }
            // If the journal does not accept the entry, the entry is lost: there is no other place to report that.
            _ = sd_journal_sendv(entry, Int32(entry.count))
        }
    }
}
