import JunctionSession
import JunctionText

/// Parses the date format that HTTP servers must send (IMF-fixdate): `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    /// Returns the time, or `nil` if the text is no such date, the time does not exist or is before 1970.
    static func parse(_ text: String) -> WallTime? {
        let bytes = Array(text.utf8)
        guard bytes.count == 29, matches(bytes, 3, ", "), matches(bytes, 25, " GMT") else { return nil }
        guard [7, 11, 16].allSatisfy({ bytes[$0] == UInt8(ascii: " ") }) else { return nil }
        func part(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
        guard let index = months.firstIndex(of: part(8..<11)) else { return nil }
        let month = index < 9 ? "0\(index + 1)" : "\(index + 1)"
        // RFC 3339 has the same rules for the numbers. A leap second counts as the first second of the next minute, as
        // in POSIX.
        let milliseconds = RFC3339.milliseconds("\(part(12..<16))-\(month)-\(part(5..<7))T\(part(17..<25))Z")
        guard let milliseconds, milliseconds >= 0 else { return nil }
        return WallTime(milliseconds: milliseconds)
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func matches(_ bytes: [UInt8], _ start: Int, _ text: String) -> Bool {
        bytes[start...].starts(with: text.utf8)
    }
}
